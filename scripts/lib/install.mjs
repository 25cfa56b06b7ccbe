// The arguments of the install step, shared by `npm start`, `npm test` and the check in a fresh clone.
export const installArgs = ['install', '--frozen-lockfile', '--prefer-offline']
