import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where the recordings lie: `SLUICE_RECORDINGS`, else `shared/recordings` beside the repository. They are never committed. */
export const recordingsFolder: string =
  process.env.SLUICE_RECORDINGS ?? fileURLToPath(new URL('../../../../shared/recordings', import.meta.url))

/** True where there are recordings to hold the adapters to. */
export const hasRecordings: boolean = existsSync(join(recordingsFolder, 'openai-responses'))
