/** Storms and soaks are small in `npm test`, so that it ends soon, and whole in `npm run test:full` (MILLRACE_FULL=1). */
export const full = process.env.MILLRACE_FULL === '1'
