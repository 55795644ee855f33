import fc from 'fast-check'

// One seed for everybody, so that a change is judged by itself. `PROPERTY_SEED=random` (or a number) goes looking for more.
const asked = process.env.PROPERTY_SEED
if (asked !== 'random') fc.configureGlobal({ seed: Number(asked ?? 20_261_115) })
