import { type DialectName, dialectNames } from '@millrace/core'
import { useDeferredValue, useState } from 'react'
import type { PanelProps } from '../app/panels.ts'
import { Button } from '../ui/controls.tsx'
import { SearchField } from '../ui/search-field.tsx'
import { WireColumn } from './column.tsx'
import './wire.css'

/** The frames of the session up to the cursor, in any dialect or in two of them side by side. */
export function WirePanel({ session, at }: PanelProps) {
  const [dialect, setDialect] = useState<DialectName>('ag-ui')
  const [beside, setBeside] = useState<DialectName>()
  const [words, setWords] = useState('')
  const [raw, setRaw] = useState(false)
  const wanted = useDeferredValue(words.toLowerCase())
  const shown = beside === undefined ? [dialect] : [dialect, beside]
  return (
    <div className="wire-panel">
      <div className="panel-bar">
        <select
          aria-label="Dialect"
          value={dialect}
          data-testid="wire-dialect"
          onChange={(event) => setDialect(named(event.target.value) ?? 'ag-ui')}
        >
          {dialectNames.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <select
          aria-label="Second dialect, beside the first"
          value={beside ?? ''}
          data-testid="wire-beside"
          onChange={(event) => setBeside(named(event.target.value))}
        >
          <option value="">alone</option>
          {dialectNames.map((name) => (
            <option key={name} value={name}>
              beside {name}
            </option>
          ))}
        </select>
        <SearchField label="Filter frames" value={words} onChange={setWords} />
        <Button aria-pressed={raw} onClick={() => setRaw(!raw)} title="Switch between raw and formatted frames">
          {raw ? 'Raw' : 'Pretty'}
        </Button>
      </div>
      <div className="wire-columns">
        {shown.map((name, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the two columns may show the same dialect
          <WireColumn key={`${i} ${name}`} session={session} dialect={name} at={at} words={wanted} raw={raw} />
        ))}
      </div>
    </div>
  )
}

function named(value: string): DialectName | undefined {
  return dialectNames.find((name) => name === value)
}
