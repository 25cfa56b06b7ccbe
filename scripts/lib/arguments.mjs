/** The arguments of a script: those handed on by bootstrap.mjs, else the command line without a leading `--`. */
export const scriptArguments = () => {
  if (process.env.SLUICE_SCRIPT_ARGS) {
    const handedOn = JSON.parse(process.env.SLUICE_SCRIPT_ARGS)
    delete process.env.SLUICE_SCRIPT_ARGS
    return handedOn
  }
  const own = process.argv.slice(2)
  return own[0] === '--' ? own.slice(1) : own
}
