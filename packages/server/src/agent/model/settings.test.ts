import { describe, expect, test } from 'vitest'
import { chooseModel, type ModelSettings, modelSettings } from './settings.ts'

describe('model settings', () => {
  test('come from env by the names the SDKs use; empty is absent', () => {
    const env = { GOOGLE_API_KEY: 'g', OPENAI_API_KEY: '', OPENAI_BASE_URL: 'http://localhost:11434/v1', PATH: '/bin' }
    expect(modelSettings(env)).toEqual({ googleApiKey: 'g', openaiBaseUrl: 'http://localhost:11434/v1' })
    expect(modelSettings({ GEMINI_API_KEY: 'g', MILLRACE_MODEL: 'openai:x' })).toEqual({
      googleApiKey: 'g',
      model: 'openai:x',
    })
    expect(modelSettings({ MILLRACE_OFFLINE_TOKENS_PER_SECOND: '0' })).toEqual({ tokensPerSecond: 0 })
    expect(modelSettings({ MILLRACE_OFFLINE_TOKENS_PER_SECOND: 'fast' })).toEqual({})
    expect(
      modelSettings({ ANTHROPIC_API_KEY: 'a', ANTHROPIC_BASE_URL: 'http://x', MILLRACE_MODEL_TIMEOUT: '45' }),
    ).toEqual({
      anthropicApiKey: 'a',
      anthropicBaseUrl: 'http://x',
      timeout: 45,
    })
    expect(modelSettings({ GOOGLE_API_KEY: '', GEMINI_API_KEY: 'g', MILLRACE_MODEL_TIMEOUT: 'long' })).toEqual({
      googleApiKey: 'g',
    })
  })

  test.each<[string, ModelSettings, string | undefined, boolean, object]>([
    ['nothing set', {}, undefined, false, { kind: 'offline' }],
    ['a Google key', { googleApiKey: 'g' }, undefined, true, { kind: 'gemini', name: 'gemini-2.5-flash', apiKey: 'g' }],
    ['an OpenAI key', { openaiApiKey: 'o' }, undefined, false, { kind: 'openai', name: 'gpt-4o-mini', apiKey: 'o' }],
    [
      'an Anthropic key',
      { anthropicApiKey: 'a' },
      undefined,
      false,
      { kind: 'anthropic', name: 'claude-haiku-4-5', apiKey: 'a' },
    ],
    [
      'a Claude model',
      { anthropicApiKey: 'a' },
      'claude-opus-4-8',
      false,
      { kind: 'anthropic', name: 'claude-opus-4-8' },
    ],
    ['its provider named', { anthropicApiKey: 'a' }, 'anthropic:x', false, { kind: 'anthropic', name: 'x' }],
    ['Google named', { googleApiKey: 'g' }, 'google:gemini-3-pro', false, { kind: 'gemini', name: 'gemini-3-pro' }],
    ['both keys', { googleApiKey: 'g', openaiApiKey: 'o' }, undefined, false, { kind: 'gemini' }],
    ['the setting', { googleApiKey: 'g', model: 'offline' }, undefined, false, { kind: 'offline' }],
    ['a name over the setting', { openaiApiKey: 'o', model: 'offline' }, 'openai:gpt-4.1', false, { name: 'gpt-4.1' }],
    ['a server of one’s own needs no key', { openaiBaseUrl: 'http://x' }, 'openai:llama3.2', false, { kind: 'openai' }],
    ['a base URL alone names no model', { openaiBaseUrl: 'http://x' }, undefined, false, { kind: 'offline' }],
    [
      'a name without its key',
      {},
      'gemini-2.5-pro',
      false,
      { kind: 'missing', reason: expect.stringContaining('GOOGLE_API_KEY') },
    ],
    ['the same with a script', {}, 'gemini-2.5-pro', true, { kind: 'offline' }],
    ['the same, as the reason advises', { model: 'offline' }, 'gemini-2.5-pro', false, { kind: 'offline' }],
    [
      'OpenAI without its key',
      {},
      'openai:gpt-4o',
      false,
      { kind: 'missing', reason: expect.stringContaining('OPENAI_BASE_URL') },
    ],
    [
      'a Claude model without its key',
      { googleApiKey: 'g' },
      'claude-opus-4-8',
      false,
      { kind: 'missing', reason: expect.stringContaining('claude-opus-4-8 needs ANTHROPIC_API_KEY') },
    ],
    [
      'a name without a provider',
      { openaiApiKey: 'o' },
      'gpt-4o-mini',
      true,
      {
        kind: 'missing',
        reason: expect.stringContaining(
          'gpt-4o-mini: no provider of that name; write openai:gpt-4o-mini, or set MILLRACE_MODEL',
        ),
      },
    ],
    [
      'a provider that there is not',
      { openaiApiKey: 'o' },
      'bedrock/claude-x',
      false,
      { kind: 'missing', reason: expect.stringContaining('write anthropic:claude-x, or') },
    ],
    [
      'a name without a provider, and the setting, as the reason advises',
      { openaiApiKey: 'o', model: 'openai:llama3.2' },
      'gpt-4o-mini',
      false,
      { kind: 'openai', name: 'llama3.2' },
    ],
    [
      'a name without its key, and the setting',
      { openaiApiKey: 'o', model: 'openai:llama3.2' },
      'gemini-2.5-pro',
      true,
      { kind: 'openai', name: 'llama3.2' },
    ],
  ])('%s', (_, settings, name, scripted, choice) => {
    expect(chooseModel(settings, name, scripted)).toMatchObject(choice)
  })
})
