import { readFileSync } from 'node:fs'
import { version } from '../version.ts'

/** The versions of other packages that this command was tested with. */
const tested = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
).dependencies

const imported = ['@google/adk', '@langchain/core', '@langchain/langgraph', 'zod']

/**
 * No agent imports it. LangGraph accepts any `~1.12.0` of it, but 1.12.9 needs a newer `@langchain/core` than LangGraph
 * does, and npm was still resolving after ten minutes.
 */
const held = ['@langchain/langgraph-sdk']

/** What `millrace init` writes: path → text. */
export const templates = (name: string): Readonly<Record<string, string>> => ({
  'package.json': json({
    name,
    private: true,
    type: 'module',
    scripts: { start: 'millrace', test: 'millrace test', typecheck: 'tsc --noEmit' },
    dependencies: {
      ...Object.fromEntries([...imported, ...held].map((each) => [each, tested[each]])),
      '@millrace/server': version,
      millrace: version,
    },
    devDependencies: { '@types/node': '^20.19.0', typescript: '7.0.2' },
  }),
  'tsconfig.json': json({
    compilerOptions: {
      target: 'ES2023',
      module: 'preserve',
      moduleResolution: 'bundler',
      allowImportingTsExtensions: true,
      noEmit: true,
      strict: true,
      skipLibCheck: true,
      types: ['node'],
    },
    include: ['agents'],
  }),
  '.gitignore': 'node_modules\n.env\n.millrace\n',
  '.env.example': `# Copy this file to .env. Without a key, agents use their offline scripts.
# One of these selects the model; MILLRACE_MODEL names another, such as gemini-2.5-pro, claude-opus-4-8 or openai:gpt-4o.
#GOOGLE_API_KEY=
#ANTHROPIC_API_KEY=
#OPENAI_API_KEY=
#OPENAI_BASE_URL=
#MILLRACE_MODEL=
`,
  'agents/greeter/agent.ts': greeter,
  'agents/triage/agent.ts': triage,
})

/** The messages of the first test cases, by agent. */
export const firstCases: Readonly<Record<string, string>> = {
  greeter: 'Greet Ada in French',
  triage: 'The server is down!',
}

const greeter = dedented(`import { FunctionTool, LlmAgent } from '@google/adk'
  import { call, model, say } from '@millrace/server/adk'
  import { z } from 'zod'

  export const title = 'Greeter'
  export const description = 'Greets people in their language.'
  export const examples = ['Greet Ada in French']

  const words: Record<string, string> = { english: 'Hello', french: 'Bonjour', german: 'Guten Tag', italian: 'Buongiorno' }

  const greetingIn = new FunctionTool({
    name: 'greeting_in',
    description: 'The greeting of a language.',
    parameters: z.object({ language: z.string() }),
    execute: ({ language }) => {
      const greeting = words[language.toLowerCase()]
      return greeting === undefined ? { error: \`no greeting in \${language}\` } : { greeting }
    },
  })

  export const rootAgent = new LlmAgent({
    name: 'greeter',
    description,
    // With a key in .env a real model answers; without one, this script does. The tool is real in both cases.
    model: model({
      offline: ({ step, user, result }) => {
        const [, name = 'you', language = 'english'] = /greet (\\w+)(?: in (\\w+))?/i.exec(user) ?? []
        if (step === 0) return call('greeting_in', { language })
        return say(\`\${result('greeting_in')?.greeting ?? 'Hello'}, \${name}!\`)
      },
    }),
    instruction: 'You greet the person that the user names. Call greeting_in for the words, and use no others.',
    tools: [greetingIn],
  })
`)

const triage = dedented(`import { AIMessage, SystemMessage } from '@langchain/core/messages'
  import { Annotation, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
  import { chatModel } from '@millrace/server/langgraph'

  export const title = 'Triage'
  export const description = 'Sorts tickets: urgent ones go to a person, the others are answered.'
  export const examples = ['The server is down!', 'How do I change my password?']

  const Ticket = Annotation.Root({
    ...MessagesAnnotation.spec,
    urgent: Annotation<boolean>(),
  })

  const llm = chatModel({ offline: () => 'Open Settings, then Account. Tell me if that does not help.' })

  /** A step without a model: graphs mix code and models. */
  function sort({ messages }: typeof Ticket.State) {
    const text = messages.at(-1)?.text ?? ''
    return { urgent: /\\b(down|urgent|outage|lost)\\b/i.test(text) }
  }

  function escalate() {
    return { messages: [new AIMessage('This is urgent: I have called the person on duty.')] }
  }

  async function answer({ messages }: typeof Ticket.State) {
    const system = new SystemMessage('You answer questions about our product in one or two sentences.')
    return { messages: [await llm.invoke([system, ...messages])] }
  }

  export const graph = new StateGraph(Ticket)
    .addNode('sort', sort)
    .addNode('escalate', escalate)
    .addNode('answer', answer)
    .addEdge(START, 'sort')
    .addConditionalEdges('sort', ({ urgent }) => (urgent ? 'escalate' : 'answer'), ['escalate', 'answer'])
    .addEdge('escalate', END)
    .addEdge('answer', END)
    .compile()
`)

/** Code in this file is indented, so that a search for what it exports does not find it here. */
function dedented(code: string): string {
  return code.replace(/^ {2}/gm, '')
}

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`
