const whole = new Intl.NumberFormat('en')

/** The seq of an event as a sentence has it: `event 99,000`. A mark that is copied or searched for stays whole: `#99000`. */
export function eventNumber(seq: number): string {
  return whole.format(seq)
}
