import { setImmediate as nextTick } from 'node:timers/promises'
import { BaseLlm, type LlmRequest, type LlmResponse } from '@google/adk'
import { bindingOf } from './binding.ts'
import { finish } from './finish.ts'
import { countWords, type OfflinePart, type OfflineScript, offlinePartsOf, scriptFor, words } from './offline.ts'
import { offlineRequest, promptText } from './offline-request.ts'
import { abortableSleep } from './retrying-fetch.ts'

/** Words per second, about what a small hosted model streams: fast enough to try things, slow enough to watch. */
const defaultPace = 80

type Parts = NonNullable<NonNullable<LlmResponse['content']>['parts']>

/** The deterministic model that needs no key: it streams the text and makes the calls of its script. */
export class OfflineLlm extends BaseLlm {
  readonly #script: OfflineScript | undefined
  constructor(script?: OfflineScript) {
    super({ model: 'offline' })
    this.#script = script
  }

  override async *generateContentAsync(
    request: LlmRequest,
    stream = false,
    signal?: AbortSignal,
  ): AsyncGenerator<LlmResponse, void> {
    const binding = bindingOf(request)
    const pace = binding.settings.tokensPerSecond ?? defaultPace
    const turn = offlinePartsOf(await scriptFor(this.#script, binding.agent)(offlineRequest(request, binding)))
    const parts: Parts = []
    for (const part of turn) {
      if (part.kind === 'fail') {
        yield { errorCode: part.code, errorMessage: part.message, modelVersion: this.model }
        return
      }
      if (part.kind === 'call') {
        parts.push({ functionCall: { name: part.name, args: { ...part.args } } })
        continue
      }
      for (const chunk of words(part.text)) {
        // Always leave the microtask queue: otherwise no socket is written before the answer ends.
        if (!(await pause(part.perSecond, pace, signal))) return
        if (stream) yield { content: { role: 'model', parts: [textPart(part, chunk)] }, partial: true }
      }
      if (part.text !== '') parts.push(textPart(part, part.text))
    }
    if (signal?.aborted) return
    await nextTick()
    yield {
      ...(parts.length === 0 ? {} : { content: { role: 'model', parts } }),
      ...finish('STOP'),
      usageMetadata: usageOf(request, turn),
      modelVersion: this.model,
    }
  }

  override async connect(): Promise<never> {
    throw new Error('the offline model has no live mode')
  }
}

/** Waits for the next word. False when the run was stopped meanwhile. */
async function pause(perSecond: number | undefined, pace: number, signal: AbortSignal | undefined): Promise<boolean> {
  if (pace === 0) await nextTick()
  else await abortableSleep(1000 / (perSecond ?? pace), signal).catch(() => undefined)
  return signal?.aborted !== true
}

function textPart(part: OfflinePart, text: string): Parts[number] {
  return part.kind === 'think' ? { text, thought: true } : { text }
}

function usageOf(request: LlmRequest, turn: readonly OfflinePart[]): NonNullable<LlmResponse['usageMetadata']> {
  const promptTokenCount = countWords(promptText(request))
  let candidatesTokenCount = 0
  let thoughtsTokenCount = 0
  for (const part of turn) {
    if (part.kind === 'think') thoughtsTokenCount += countWords(part.text)
    else if (part.kind === 'say') candidatesTokenCount += countWords(part.text)
    else if (part.kind === 'call') candidatesTokenCount += 1 + countWords(JSON.stringify(part.args))
  }
  return {
    promptTokenCount,
    candidatesTokenCount,
    ...(thoughtsTokenCount === 0 ? {} : { thoughtsTokenCount }),
    totalTokenCount: promptTokenCount + candidatesTokenCount + thoughtsTokenCount,
  }
}
