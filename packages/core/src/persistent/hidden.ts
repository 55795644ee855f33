/** Internal state of a view: it belongs to the view's state but is left out of its JSON. */
export class Hidden<T> {
  readonly value: T

  constructor(value: T) {
    this.value = value
  }

  toJSON(): undefined {
    return undefined
  }
}
