import { isJsonObject, type PlanData, type PlanReflection, type PlanTask, preview } from '@millrace/core'
import { Pill } from '../ui/controls.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { SeqLink } from '../ui/seq-link.tsx'

/** The records that the tasks produced: one table for each kind, with the fields of its records. */
export function DataItems({ items }: { readonly items: readonly PlanData[] }) {
  const present = items.filter(({ deleted }) => deleted !== true)
  if (present.length === 0) return null
  const kinds = [...new Set(present.map(({ itemType }) => itemType))]
  return (
    <section className="panel-section" data-testid="plan-data">
      <h3>
        Data <Pill>{present.length}</Pill>
      </h3>
      {kinds.map((kind) => (
        <DataTable key={kind} kind={kind} items={present.filter(({ itemType }) => itemType === kind)} />
      ))}
    </section>
  )
}

const mostColumns = 6

function DataTable({ kind, items }: { readonly kind: string; readonly items: readonly PlanData[] }) {
  const fields = [...new Set(items.flatMap(({ item }) => (isJsonObject(item) ? Object.keys(item) : [])))].slice(
    0,
    mostColumns,
  )
  return (
    <div className="data-table scroll">
      <table>
        <caption>{kind}</caption>
        <thead>
          <tr>
            {fields.length === 0 ? (
              <th scope="col">value</th>
            ) : (
              fields.map((field) => (
                <th scope="col" key={field}>
                  {field}
                </th>
              ))
            )}
            <th scope="col">
              <span className="visually-hidden">Event</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map(({ id, item, seq }) => (
            <tr key={id} title={id}>
              {fields.length === 0 ? (
                <td>{item === undefined ? '' : preview(item, 80)}</td>
              ) : (
                fields.map((field) => <td key={field}>{cell(item, field)}</td>)
              )}
              <td className="row-end">
                <CopyButton text={() => JSON.stringify(item, null, 2)} label="Copy the item" />
                <SeqLink seq={seq} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function cell(item: PlanData['item'], field: string): string {
  const value = isJsonObject(item) ? item[field] : undefined
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : preview(value, 80)
}

/** The reflections of the agent on its tasks. */
export function Reflections({
  reflections,
  tasks,
}: {
  readonly reflections: readonly PlanReflection[]
  readonly tasks: readonly PlanTask[]
}) {
  if (reflections.length === 0) return null
  const titles = new Map(tasks.map(({ id, title }) => [id, title]))
  return (
    <section className="panel-section">
      <h3>
        Reflections <Pill>{reflections.length}</Pill>
      </h3>
      <ul className="reflections">
        {reflections.map(({ task, text, seq }) => (
          <li key={seq}>
            <p>{text}</p>
            <p className="faint">
              {titles.get(task) ?? task} <SeqLink seq={seq} />
            </p>
          </li>
        ))}
      </ul>
    </section>
  )
}
