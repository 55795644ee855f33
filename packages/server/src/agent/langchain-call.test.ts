import { expect, test } from 'vitest'
import { langChainCall } from './langchain-call.ts'

const provider = {
  prompt_tokens: 1000,
  completion_tokens: 200,
  total_tokens: 1200,
  prompt_tokens_details: { cached_tokens: 400 },
  completion_tokens_details: { reasoning_tokens: 50 },
}
const counted = {
  promptTokenCount: 1000,
  candidatesTokenCount: 150,
  totalTokenCount: 1200,
  thoughtsTokenCount: 50,
  cachedContentTokenCount: 400,
}

test("tokens are read in LangChain's form, and where a streamed answer lacks it, in that of the provider", () => {
  const own = {
    input_tokens: 1000,
    output_tokens: 200,
    total_tokens: 1200,
    input_token_details: { cache_read: 400 },
    output_token_details: { reasoning: 50 },
  }
  expect(langChainCall({ usage_metadata: own }).usage).toEqual(counted)
  expect(langChainCall({ response_metadata: { usage: provider } }).usage).toEqual(counted)
  expect(langChainCall({ response_metadata: { usage: { prompt_tokens: 3 } } }).usage).toMatchObject({
    promptTokenCount: 3,
    totalTokenCount: 3,
  })
  for (const usage of [{}, 'many', undefined])
    expect(langChainCall({ response_metadata: { usage } }).usage).toBeUndefined()
})
