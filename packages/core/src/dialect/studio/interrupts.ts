import { OpenList } from '../bare-text/open-list.ts'

interface Question {
  readonly id: string
  readonly name: string
  readonly run: string
}

/** Open questions to a person. Decoder and encoder number them alike: the n-th of a run is `run:interrupt#n`. */
export class StudioInterrupts {
  readonly #open = new Map<string, Question>()
  readonly #asked = new Map<string, number>()
  readonly #order = new OpenList<Question>()
  readonly #byName = new Map<string, OpenList<Question>>()
  /** How many questions of each run are open. */
  readonly #openIn = new Map<string, number>()

  impliedId(run: string): string {
    return `${run}:interrupt#${(this.#asked.get(run) ?? 0) + 1}`
  }

  ask(id: string, name: string, run: string): void {
    this.answer(id)
    const question: Question = { id, name, run }
    this.#asked.set(run, (this.#asked.get(run) ?? 0) + 1)
    this.#openIn.set(run, (this.#openIn.get(run) ?? 0) + 1)
    this.#open.set(id, question)
    this.#order.open(question)
    const alike = this.#byName.get(name) ?? new OpenList()
    this.#byName.set(name, alike)
    alike.open(question)
  }

  answer(id: string): void {
    const question = this.#open.get(id)
    if (question === undefined) return
    const { name, run } = question
    this.#open.delete(id)
    this.#order.close(question)
    const alike = this.#byName.get(name)
    alike?.close(question)
    if (alike?.size === 0) this.#byName.delete(name)
    this.#openIn.set(run, (this.#openIn.get(run) ?? 1) - 1)
  }

  nameOf(id: string): string {
    return this.#open.get(id)?.name ?? ''
  }

  /** The question that an answer to this node answers: the node's latest, else the latest of all. */
  latest(name: string): string | undefined {
    return (this.#byName.get(name)?.last ?? this.#order.last)?.id
  }

  asks(name: string): boolean {
    return this.#byName.has(name)
  }

  /** Whether a question of this run is still open. */
  openIn(run: string): boolean {
    return (this.#openIn.get(run) ?? 0) > 0
  }
}
