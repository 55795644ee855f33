/** What a view remembers for itself: part of its state, not of what is printed. */
export class Hidden<T> {
  readonly value: T

  constructor(value: T) {
    this.value = value
  }

  toJSON(): undefined {
    return undefined
  }
}
