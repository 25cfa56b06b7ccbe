import { SluiceError } from '@sluice/core'

/**
 * Imports an SDK when it is first needed. `load` is the literal `import()`, so that bundlers see it.
 * @throws PROVIDER_SDK_MISSING with the install line, where the package is not there.
 */
export async function loadSdk<Module>(
  packageName: string,
  range: string,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load()
  } catch (cause) {
    if (!isMissing(cause, packageName)) throw cause
    throw new SluiceError(
      'PROVIDER_SDK_MISSING',
      `The provider needs the package "${packageName}", which is not installed.`,
      {
        hint: `Run: npm install "${packageName}@${range}"`,
        details: { package: packageName, range },
        cause,
      },
    )
  }
}

function isMissing(cause: unknown, packageName: string): boolean {
  if (!(cause instanceof Error)) return false
  const code = (cause as { code?: unknown }).code
  if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') return false
  // a package that is there and lacks a file or a dependency of its own is another fault
  return cause.message.includes(`'${packageName}'`) || cause.message.includes(`"${packageName}"`)
}
