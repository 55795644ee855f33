// Persistent collections for views. Internal to Millrace's own packages (`@millrace/core/persistent`): not public API.

export { Dictionary } from './dictionary.ts'
export { firstIndexWhere } from './search.ts'
export { Sequence } from './sequence.ts'
