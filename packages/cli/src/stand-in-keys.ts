/** The keys that chat models require when they are constructed, long before they are called. */
const names = [
  'ANTHROPIC_API_KEY',
  'CEREBRAS_API_KEY',
  'COHERE_API_KEY',
  'DEEPSEEK_API_KEY',
  'FIREWORKS_API_KEY',
  'GOOGLE_API_KEY',
  'GROQ_API_KEY',
  'MISTRAL_API_KEY',
  'OPENAI_API_KEY',
  'OPENROUTER_API_KEY',
  'PERPLEXITY_API_KEY',
  'TOGETHER_AI_API_KEY',
  'XAI_API_KEY',
]

/** A provider refuses this key, and its error then shows where the key came from. */
const standIn = 'none-because-the-answers-are-recorded'

/** Lets an agent whose answers are played construct its models without keys. A key that is set, or comes from an `.env` file, is kept. */
export function addStandIns(variables: NodeJS.ProcessEnv): void {
  for (const name of names) variables[name] ||= standIn
}

export function removeStandIns(variables: NodeJS.ProcessEnv): void {
  for (const name of names) if (variables[name] === standIn) delete variables[name]
}
