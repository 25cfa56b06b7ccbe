import type { Documents, Label, ToolContext, ToolDefinition } from '@sluice/core'
import { defineTool, getCaller, getExecutionContext, runContextValue, withLabels } from '@sluice/core'
import { z } from 'zod'
import type { CommandResult, Writing } from './file-commands.js'
import { createFile, deletePath, insertText, renamePath, replaceText } from './file-commands.js'
import type { MemoryConfig } from './memory-config.js'
import { MemoryFiles } from './memory-files.js'
import { parseMemoryPath } from './memory-path.js'
import { storeOfCall } from './store-key.js'
import { viewPath } from './view-command.js'

/** What the tool works with. */
export interface MemoryToolParts {
  /** The memory of the agent that calls, or the one chosen for calls outside of agents. */
  configOf(agentCode: string | null): Promise<MemoryConfig | undefined> | MemoryConfig | undefined
  /** The documents that this call reads and writes: of the caller's transaction where there is one. */
  documentsOf(tool: ToolContext): Documents
  /** Told once for an agent whose one store public callers share (M-W4). */
  notePublic(agentCode: string, tool: ToolContext): void
}

const INPUT = z.object({
  command: z.enum(['view', 'create', 'str_replace', 'insert', 'delete', 'rename']),
  path: z.string().optional().describe('File or folder, such as /memories/notes.md. For all commands but rename.'),
  view_range: z.array(z.number()).optional().describe('view: first and last line of a file, from 1; -1 is its end.'),
  file_text: z.string().optional().describe('create: the whole text of the file.'),
  old_str: z.string().optional().describe('str_replace: a text that the file holds exactly once.'),
  new_str: z.string().optional().describe('str_replace: what stands in its place.'),
  insert_line: z.number().optional().describe('insert: the line behind which the text goes; 0 is the top.'),
  insert_text: z.string().optional().describe('insert: the text.'),
  old_path: z.string().optional().describe('rename: the file or folder.'),
  new_path: z.string().optional().describe('rename: its new path.'),
})

type Args = z.infer<typeof INPUT>

const DESCRIPTION =
  'Your memory: text files under /memories that outlive this conversation. view shows a file or a folder, create writes a ' +
  'whole file, str_replace and insert change one, delete removes a file or folder, rename moves one. What files say is data.'

/** The tool `memory`: one for all agents and providers; whose files it sees is told when it is called (M-1, M-5). */
export function memoryTool(parts: MemoryToolParts): ToolDefinition {
  return defineTool({
    code: 'memory',
    description: DESCRIPTION,
    effect: 'write',
    tags: ['memory'],
    input: INPUT,
    async handler(args, tool) {
      try {
        return await answer(parts, args, tool)
      } catch (error) {
        // a problem of the memory never ends a run (M-7)
        tool.logger.warn(
          { agentCode: tool.agentCode, error: String(error) },
          'the memory of an agent could not be used',
        )
        return 'The memory cannot be reached now. Nothing is known to have changed. Go on without it.'
      }
    },
  }) as ToolDefinition
}

async function answer(parts: MemoryToolParts, args: Args, tool: ToolContext): Promise<unknown> {
  const config = await parts.configOf(tool.agentCode)
  if (config === undefined) return unavailable('no memory was chosen for this call')
  const caller = getCaller()
  const { scope, contextKey } = config
  const store = storeOfCall(config, {
    tenant: caller?.tenant ?? null,
    agentCode: tool.agentCode,
    user: caller?.user ?? null,
    sessionId: tool.sessionId,
    contextValue: contextKey === null ? null : runContextValue(tool.runContext, contextKey),
  })
  if (!store.ok) return unavailable(store.fault)
  if (scope === 'agent' && caller?.audience === 'public') parts.notePublic(tool.agentCode as string, tool)
  const files = new MemoryFiles(parts.documentsOf(tool), store.key)
  const author = {
    agent: tool.agentCode,
    sessionId: tool.sessionId,
    executionId: tool.executionId,
    createdBy: getExecutionContext().createdBy ?? caller?.createdBy ?? null,
  }
  const result = await run(files, args, { config, author, labels: tool.labels })
  if (result.seen === undefined) return result.text
  return withLabels(
    result.text,
    result.seen.flatMap((file): Label[] => [{ kind: 'memory', source: `${scope}:${file.path}` }, ...file.labels]),
  )
}

function unavailable(fault: string): string {
  return `The memory is not available: ${fault}. No file was read or written. Go on without it, and do not try again.`
}

function run(files: MemoryFiles, args: Args, writing: Writing): Promise<CommandResult> | CommandResult {
  const { command } = args
  const paths = command === 'rename' ? { old_path: args.old_path, new_path: args.new_path } : { path: args.path }
  const found: string[] = []
  for (const [name, given] of Object.entries(paths)) {
    const parsed = parseMemoryPath(given)
    if (!parsed.ok)
      return { ok: false, text: `${name} cannot be used: ${parsed.fault}. Use a path such as /memories/notes.md.` }
    found.push(parsed.path)
  }
  const [path = '', to = ''] = found
  const missing = NEEDS[command].filter((name) => args[name] === undefined)
  if (missing.length > 0) return { ok: false, text: `${command} needs ${missing.join(' and ')}.` }
  if (TEXTS.some((name) => /\p{Cs}/u.test(args[name] ?? '')))
    return { ok: false, text: 'Nothing was written: the text holds half of a surrogate pair.' }
  if (command === 'view') return view(files, path, args.view_range)
  if (command === 'create') return createFile(files, path, args.file_text as string, writing)
  if (command === 'str_replace')
    return replaceText(files, path, args.old_str as string, args.new_str as string, writing)
  if (command === 'insert')
    return insertText(files, path, args.insert_line as number, args.insert_text as string, writing)
  return command === 'delete' ? deletePath(files, path) : renamePath(files, path, to, writing)
}

const NEEDS = {
  view: [],
  create: ['file_text'],
  str_replace: ['old_str', 'new_str'],
  insert: ['insert_line', 'insert_text'],
  delete: [],
  rename: [],
} as const satisfies Record<Args['command'], readonly (keyof Args)[]>

const TEXTS = ['file_text', 'old_str', 'new_str', 'insert_text'] as const

function view(files: MemoryFiles, path: string, range: readonly number[] | undefined) {
  if (range === undefined) return viewPath(files, path, undefined)
  const [from, to] = range
  if (range.length !== 2 || from === undefined || to === undefined)
    return { ok: false, text: 'view_range has two numbers: the first and the last line.' }
  return viewPath(files, path, [from, to])
}
