/** A whole number from 0 up to, but not including, `sides`. */
export type Dice = (sides: number) => number

/** Lehmer's generator: core has no randomness of its own, and a seed makes a failure repeatable. */
export function dice(seed: number): Dice {
  let state = seed * 48_271
  return (sides) => {
    state = (state * 48_271) % 2_147_483_647
    return state % Math.max(1, sides)
  }
}

/** One member of a list that is not empty. */
export function pick<T>(random: Dice, list: readonly T[]): T {
  return list[random(list.length)] as T
}

/** A new list in another order (Fisher and Yates). */
export function shuffled<T>(random: Dice, list: readonly T[]): readonly T[] {
  const mixed = [...list]
  for (let i = mixed.length - 1; i > 0; i--) {
    const j = random(i + 1)
    ;[mixed[i], mixed[j]] = [mixed[j] as T, mixed[i] as T]
  }
  return mixed
}
