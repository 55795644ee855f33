import { create } from 'zustand'
import { IconButton, Kbd } from '../ui/controls.tsx'
import { command } from '../ui/key-name.ts'
import { Sheet } from '../ui/sheet.tsx'
import { panels } from './panels.ts'
import './key-sheet.css'

const useSheet = create<{ readonly open: boolean }>()(() => ({ open: false }))

export const showKeys = (): void => useSheet.setState({ open: true })
const hide = (): void => useSheet.setState({ open: false })

const groups: readonly (readonly [string, readonly (readonly [readonly string[], string])[]])[] = [
  [
    'Time',
    [
      [['←', '→'], 'step back or forward'],
      [['Shift', '←'], 'step through every token'],
      [['Space'], 'play or pause'],
      [['Esc'], 'back to the latest event'],
      [['j', 'k'], 'next or previous step, in the step panel'],
    ],
  ],
  [
    'Navigation',
    [
      [[command, 'K'], 'search everything, and actions'],
      [[command, 'F'], 'find in the conversation'],
      [['Enter'], 'next match; with Shift the previous one'],
      [['/'], 'search the session list'],
      [['i'], 'inbox: what runs and waits for you'],
      [['n'], 'new session'],
      [['m'], 'write a message'],
      [['?'], 'keyboard shortcuts'],
    ],
  ],
  [
    'Panes',
    [
      [['['], 'session list'],
      [[']'], 'inspector'],
      [['f'], 'maximise the inspector'],
      [['t'], 'timeline'],
      [['d'], 'light, dark or system theme'],
    ],
  ],
]

/** Lists all keyboard shortcuts. */
export function KeySheet() {
  const { open } = useSheet()
  const all = [...groups, ['Panels', panels.map(({ key, title }) => [[key], title.toLowerCase()] as const)] as const]
  return (
    <Sheet open={open} onClose={hide} className="key-sheet" testId="key-sheet" titleId="key-sheet-title">
      <header>
        <h2 id="key-sheet-title">Keyboard shortcuts</h2>
        <IconButton icon="close" label="Close" onClick={hide} />
      </header>
      <div className="key-groups">
        {all.map(([title, keys]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(([names, what]) => (
                <div key={what}>
                  <dt>
                    {names.map((name) => (
                      <Kbd key={name}>{name}</Kbd>
                    ))}
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Sheet>
  )
}
