/** Milliseconds of one screen frame, and how many more go unnoticed. */
const frame = 17
const slack = 3
/** Idle milliseconds granted to the slider per millisecond of overrun. */
const idlePerOverrun = 11
/** Milliseconds without movement after which the cursor has come to rest. */
const still = 120

/** What a follower of the cursor does to the page, and the clock of the page. */
interface Screen {
  draw(at: number | undefined): void
  now(): number
  soon(action: () => void): void
  /** Returns a function that cancels the action. */
  later(milliseconds: number, action: () => void): () => void
  afterPaint(action: () => void): void
}

/**
 * Draws the moments of a cursor that moves. One that was slow to draw is followed by a pause, which keeps the
 * slider smooth. The pause ends early once the cursor rests, so that the page soon shows the chosen moment.
 */
export class CursorFollower {
  readonly #screen: Screen
  #wanted: number | undefined
  #drawn: number | undefined
  #state: 'idle' | 'drawing' | 'pause' = 'idle'
  #endPause = (): void => {}
  #endStill = (): void => {}

  constructor(at: number | undefined, screen: Screen) {
    this.#wanted = at
    this.#drawn = at
    this.#screen = screen
  }

  want(at: number | undefined): void {
    this.#wanted = at
    if (this.#state === 'pause') this.#waitUntilStill()
    if (this.#state !== 'idle' || this.#drawn === at) return
    this.#state = 'drawing'
    this.#screen.soon(this.#draw)
  }

  /** Cancels what was to be drawn later. */
  rest(): void {
    this.#endPause()
    this.#endStill()
    this.#state = 'idle'
  }

  readonly #draw = (): void => {
    const { now, draw, later, afterPaint } = this.#screen
    const begun = now()
    this.#state = 'drawing'
    this.#drawn = this.#wanted
    draw(this.#wanted)
    afterPaint(() => {
      const over = now() - begun - frame
      this.#state = 'pause'
      this.#endPause = later(over <= slack ? 0 : over * idlePerOverrun, this.#next)
      this.#waitUntilStill()
    })
  }

  readonly #next = (): void => {
    this.rest()
    if (this.#drawn !== this.#wanted) this.#draw()
  }

  #waitUntilStill(): void {
    this.#endStill()
    this.#endStill = this.#screen.later(still, this.#next)
  }
}
