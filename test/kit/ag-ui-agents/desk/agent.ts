import { LlmAgent } from '@google/adk'
import { call, confirm, fail, model, type OfflineRequest, type OfflineTurn, say, think } from '@millrace/server/adk'
import { textTool } from '../text-tool.ts'

// The agent of the matrix of AG-UI clients. What it does is in the user's message.

export const description = 'Does what the message says, for tests of clients.'

/** Doors that other threads open, so that a test decides when a run goes on. */
const doors = new Map<string, { readonly open: () => void; readonly opened: Promise<void> }>()
function door(name: string) {
  let known = doors.get(name)
  if (known === undefined) {
    let open = (): void => {}
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    known = { open: () => open(), opened }
    doors.set(name, known)
  }
  return known
}

/** How often the model was asked to count under a name. */
const counts = new Map<string, number>()

const lookUp = textTool('look_up', 'Looks up a word.', ['word'], ({ word }) => ({
  word,
  meaning: `the meaning of ${word}`,
}))
const addNote = textTool('add_note', 'Adds a note to the state.', ['note'], ({ note }, context) => {
  const notes = context?.state.get('notes')
  const all = [...(Array.isArray(notes) ? notes : []), note]
  context?.state.set('notes', all)
  return { count: all.length }
})
const eraseNotes = textTool('erase_notes', 'Erases every note. A person is asked first.', [], (_args, context) => {
  const waiting = confirm(context, 'Erase the notes?')
  if (waiting !== undefined) return waiting
  context?.state.set('notes', [])
  return { erased: true }
})
const breakDown = textTool('break_down', 'Throws.', [], () => {
  throw new Error('the tool broke down')
})
const waitAt = textTool('wait_at', 'Waits until a door is open.', ['name'], async ({ name = '' }) => {
  await door(name).opened
  return { open: name }
})

function script({ user, step, results, state, instruction, history }: OfflineRequest): OfflineTurn {
  const [word = '', rest = ''] = user.split(/:\s*/, 2)
  const answers = results.map(({ name, response }) => `${name} ${JSON.stringify(response)}`).join(', ')
  switch (word) {
    case 'think':
      return [think('Let me see.'), say('It is 42.')]
    case 'look up':
      return step === 0 ? rest.split(' ').map((each) => call('look_up', { word: each })) : say(answers)
    case 'note':
      return step === 0 ? call('add_note', { note: rest }) : say('Noted.')
    case 'erase':
      return step === 0 ? call('erase_notes') : say(answers)
    case 'break down':
      return step === 0 ? call('break_down') : say(answers)
    case 'fail':
      return fail('UNAVAILABLE', 'the model is overloaded')
    case 'colour':
      return step === 0 ? call('pick_colour', { of: rest }) : say(`Chosen: ${answers}`)
    case 'size':
      return step === 0 ? call('pick_size', {}) : say(`Measured: ${answers}`)
    case 'colour and size':
      return step === 0 ? [call('pick_colour', { of: 'sky' }), call('pick_size', {})] : say(`Chosen: ${answers}`)
    case 'wait':
      return step === 0 ? [say('Waiting. '), call('wait_at', { name: rest })] : say('Going on.')
    case 'open':
      door(rest).open()
      return say('Opened.')
    case 'count': {
      const count = (counts.get(rest) ?? 0) + 1
      counts.set(rest, count)
      return say(`Number ${count}.`)
    }
    case 'state':
      return say(JSON.stringify(state))
    case 'instruction':
      return say(instruction)
    case 'recall':
      return say(history.map(({ role, text }) => `${role}=${text}`).join(' | '))
    default:
      return say(`You said ${user}.`)
  }
}

export const rootAgent = new LlmAgent({
  name: 'desk',
  description,
  instruction: 'Do what the message says.',
  model: model({ offline: script }),
  tools: [lookUp, addNote, eraseNotes, breakDown, waitAt],
})
