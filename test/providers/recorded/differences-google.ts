import type { AcceptedDifference } from './difference.js'
import { dropMembers, jsonValue, objectsIn, schemaShape } from './difference.js'
import type { Raw } from './raw-json.js'

const parts = (body: Raw): Raw[] => ((body.contents ?? []) as Raw[]).flatMap((content) => content.parts as Raw[])
const of = (body: Raw, member: string): Raw[] => parts(body).flatMap((part) => part[member] ?? [])

/** Differences of requests to generateContent. */
export const GOOGLE_DIFFERENCES: readonly AcceptedDifference[] = [
  {
    what: 'members without a value',
    reason: 'A client spells out what is not there: null members, and that a part is no thought.',
    apply({ recorded }) {
      for (const object of objectsIn(recorded)) {
        for (const [key, value] of Object.entries(object)) if (value === null) delete object[key]
        if (object.thought === false) delete object.thought
      }
    },
  },
  {
    what: 'model in the body',
    reason: 'The model stands in the path; samples name it in the body.',
    apply: ({ recorded }) => dropMembers(recorded, 'model'),
  },
  {
    what: 'output cap',
    reason: 'Every request of ours has an explicit cap; some clients left it to the model.',
    apply({ recorded, ours }) {
      if (recorded.generationConfig?.maxOutputTokens === undefined) delete ours.generationConfig.maxOutputTokens
    },
  },
  {
    what: 'no settings',
    reason: 'Clients send an empty object, or nothing.',
    apply({ recorded, ours }) {
      for (const body of [recorded, ours]) {
        if (Object.keys(body.generationConfig ?? { none: 1 }).length === 0) delete body.generationConfig
      }
    },
  },
  {
    what: 'role of the system prompt',
    reason: 'It has no role; clients give it one of the two.',
    apply({ recorded }) {
      if (recorded.systemInstruction !== undefined) delete recorded.systemInstruction.role
    },
  },
  {
    what: 'names of settings',
    reason: 'The protocol takes each name in two spellings, and numbers as text.',
    apply({ recorded }) {
      const thinking = recorded.generationConfig?.thinkingConfig as Raw | undefined
      if (thinking?.thinking_budget !== undefined) {
        thinking.thinkingBudget = thinking.thinking_budget
        delete thinking.thinking_budget
      }
      if (typeof thinking?.thinkingBudget === 'string') thinking.thinkingBudget = Number(thinking.thinkingBudget)
    },
  },
  {
    what: 'tool schemas',
    reason:
      "We send the author's schema as JSON Schema, without an empty description; clients in the older form, or under the other spelling. The names of all keys must agree.",
    apply({ recorded, ours }) {
      for (const body of [recorded, ours]) {
        for (const tool of ((body.tools ?? []) as Raw[]).flatMap(
          (entry) => (entry.functionDeclarations ?? []) as Raw[],
        )) {
          tool.schema = schemaShape(tool.parametersJsonSchema ?? tool.parameters_json_schema ?? tool.parameters)
          dropMembers(tool, 'parametersJsonSchema', 'parameters_json_schema', 'parameters')
          if (tool.description === '') delete tool.description
        }
      }
    },
  },
  {
    what: 'answer schema',
    reason: 'We send the strict form; the names of all keys must agree.',
    apply({ recorded, ours }) {
      for (const { generationConfig: config } of [recorded, ours]) {
        if (config?.responseJsonSchema !== undefined) config.responseJsonSchema = schemaShape(config.responseJsonSchema)
      }
    },
  },
  {
    what: 'ids of calls',
    reason: 'Where the provider gave none, a client makes its own or sends none; we name call and result by ours.',
    apply({ recorded, ours }) {
      for (const member of ['functionCall', 'functionResponse']) {
        const mine = of(ours, member)
        for (const [index, call] of of(recorded, member).entries()) {
          if (call.id !== undefined && !/^(\d+|pyd_ai_.*)$/.test(call.id)) continue
          delete call.id
          delete mine[index]?.id
        }
      }
    },
  },
  {
    what: 'results as values',
    reason: 'A result is text, under the name that the protocol has for it; clients use names and values of their own.',
    apply({ recorded, ours }) {
      for (const { response } of [...of(recorded, 'functionResponse'), ...of(ours, 'functionResponse')]) {
        for (const name of ['output', 'result', 'return_value']) {
          if (response[name] === undefined) continue
          const value = response[name] as unknown
          delete response[name]
          response.said = typeof value === 'string' ? jsonValue(value) : value
        }
      }
    },
  },
  {
    what: 'alphabet of signatures',
    reason: 'We send a signature back as it came; clients write the same bytes in the other alphabet of base64.',
    apply({ recorded, ours }) {
      for (const part of [...parts(recorded), ...parts(ours)]) {
        if (typeof part.thoughtSignature !== 'string') continue
        part.thoughtSignature = part.thoughtSignature.replace(/-/g, '+').replace(/_/g, '/').replace(/=+$/, '')
      }
    },
  },
  {
    what: 'thoughts',
    reason: 'We send the thoughts of a reply back with it; a client leaves them out.',
    apply({ recorded, ours }) {
      if (parts(recorded).some((part) => part.thought === true)) return
      for (const content of (ours.contents ?? []) as Raw[]) {
        content.parts = content.parts.filter((part: Raw) => part.thought !== true)
      }
    },
  },
  {
    what: 'name of a result',
    reason: "A client put an id of its own in the place of the tool's name.",
    apply({ recorded, ours }) {
      const mine = of(ours, 'functionResponse')
      for (const [index, response] of of(recorded, 'functionResponse').entries()) {
        if (/^call_[0-9a-f-]{36}$/.test(response.name)) response.name = mine[index]?.name
      }
    },
  },
]
