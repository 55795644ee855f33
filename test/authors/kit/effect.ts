import { appendFileSync } from 'node:fs'

/**
 * What an author's code does to the world outside (a payment, a mail): one line in the file that `AUTHORS_EFFECTS` names.
 * `AUTHORS_PACE` is how long it takes before it happens, in ms, so that a kill can hit it. Without them it does nothing.
 */
export async function effect(name: string): Promise<void> {
  const { AUTHORS_EFFECTS: file, AUTHORS_PACE: pace } = process.env
  if (file === undefined) return
  await new Promise((resolve) => setTimeout(resolve, Number(pace ?? 0)))
  appendFileSync(file, `${name}\n`)
}
