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
  })

  test.each<[string, ModelSettings, string | undefined, boolean, object]>([
    ['nothing set', {}, undefined, false, { kind: 'offline' }],
    ['a Google key', { googleApiKey: 'g' }, undefined, true, { kind: 'gemini', name: 'gemini-2.5-flash', apiKey: 'g' }],
    ['an OpenAI key', { openaiApiKey: 'o' }, undefined, false, { kind: 'openai', name: 'gpt-4o-mini', apiKey: 'o' }],
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
    ['an unknown name', { googleApiKey: 'g' }, 'claude-3', true, { kind: 'missing' }],
  ])('%s', (_, settings, name, scripted, choice) => {
    expect(chooseModel(settings, name, scripted)).toMatchObject(choice)
  })
})
