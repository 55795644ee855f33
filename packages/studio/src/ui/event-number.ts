const whole = new Intl.NumberFormat('en')

/** The seq of an event as a person reads it: `99,000`. */
export function eventNumber(seq: number): string {
  return whole.format(seq)
}
