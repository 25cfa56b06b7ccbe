import type { JsonValue } from '../internal/json.js'

type NameCharacter =
  | 'a'
  | 'b'
  | 'c'
  | 'd'
  | 'e'
  | 'f'
  | 'g'
  | 'h'
  | 'i'
  | 'j'
  | 'k'
  | 'l'
  | 'm'
  | 'n'
  | 'o'
  | 'p'
  | 'q'
  | 'r'
  | 's'
  | 't'
  | 'u'
  | 'v'
  | 'w'
  | 'x'
  | 'y'
  | 'z'
  | '0'
  | '1'
  | '2'
  | '3'
  | '4'
  | '5'
  | '6'
  | '7'
  | '8'
  | '9'
  | '_'

type IsName<Text extends string> = Text extends `${infer Character}${infer Rest}`
  ? Lowercase<Character> extends NameCharacter
    ? Rest extends ''
      ? true
      : IsName<Rest>
    : false
  : false

/**
 * Names of the placeholders of a template (P-11, P-16): `{name}` with letters, digits and underscores; `{{` is a brace.
 * `string` for a template whose text is not known to the compiler.
 */
export type PlaceholderNames<Template extends string, Found extends string = never> = string extends Template
  ? string
  : Template extends `${infer _Before}{${infer After}`
    ? After extends `{${infer Rest}`
      ? PlaceholderNames<Rest, Found>
      : After extends `${infer Name}}${infer Rest}`
        ? IsName<Name> extends true
          ? PlaceholderNames<Rest, Found | Name>
          : PlaceholderNames<After, Found>
        : Found
    : Found

/** The input that templates ask for: a value for each placeholder but those that the run context binds. */
export type TemplateInput<Template extends string, Bound extends string> = {
  readonly [Name in Exclude<PlaceholderNames<Template>, Bound>]: JsonValue
}
