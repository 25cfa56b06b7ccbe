/**
 * Where the runtime writes what an operator should see. Each call is one event: a fixed text and a structured record.
 * A logger that throws is ignored. pino and console fit as they are.
 */
export interface Logger {
  debug(fields: Readonly<Record<string, unknown>>, text: string): void
  info(fields: Readonly<Record<string, unknown>>, text: string): void
  warn(fields: Readonly<Record<string, unknown>>, text: string): void
  error(fields: Readonly<Record<string, unknown>>, text: string): void
}
