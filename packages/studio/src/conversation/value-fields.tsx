import { defined, isJsonObject, type Json, type JsonObject } from '@millrace/core'
import { useId, useState } from 'react'

/** One value that the user can fill in. */
export interface Field {
  readonly name: string
  readonly kind: 'text' | 'number' | 'boolean' | 'choice' | 'json'
  readonly title: string
  readonly help?: string
  readonly choices?: readonly Json[]
  readonly required: boolean
  readonly value?: Json
}

/** The fields of a JSON Schema of an object; undefined for any other kind of schema. */
export function fieldsOfSchema(schema: JsonObject | undefined, values: JsonObject = {}): readonly Field[] | undefined {
  const { properties, required } = schema ?? {}
  if (!isJsonObject(properties) || Object.keys(properties).length === 0) return undefined
  const needed = new Set(Array.isArray(required) ? required : [])
  return Object.entries(properties).map(([name, property]) => {
    const known = isJsonObject(property) ? property : {}
    return defined({
      name,
      kind: kindOfSchema(known),
      title: typeof known.title === 'string' ? known.title : name,
      help: typeof known.description === 'string' ? known.description : undefined,
      choices: Array.isArray(known.enum) ? (known.enum as readonly Json[]) : undefined,
      required: needed.has(name),
      value: values[name] ?? known.default,
    })
  })
}

/** The fields of an existing object, each of the kind of its value. */
export function fieldsOfValue(values: JsonObject): readonly Field[] {
  return Object.entries(values).map(([name, value]) => ({
    name,
    title: name,
    kind: kindOfValue(value),
    required: true,
    value: value as Json,
  }))
}

function kindOfSchema(schema: JsonObject): Field['kind'] {
  if (Array.isArray(schema.enum)) return 'choice'
  if (schema.type === 'number' || schema.type === 'integer') return 'number'
  if (schema.type === 'boolean') return 'boolean'
  return schema.type === 'string' ? 'text' : 'json'
}

function kindOfValue(value: Json | undefined): Field['kind'] {
  if (typeof value === 'string') return 'text'
  if (typeof value === 'number') return 'number'
  return typeof value === 'boolean' ? 'boolean' : 'json'
}

/** What the user typed, by field name; text that is not a valid value yet is an error with its reason. */
export type Typed = ReadonlyMap<string, { readonly value: Json | undefined } | { readonly error: string }>

export function typedFrom(fields: readonly Field[]): Typed {
  return new Map(
    fields.map(({ name, value, kind }) => [name, { value: value ?? (kind === 'boolean' ? false : undefined) }]),
  )
}

/** The object that the user typed, or the first error in it. */
export function objectFromFields(
  fields: readonly Field[],
  typed: Typed,
): { readonly value: JsonObject } | { readonly error: string } {
  const made: Record<string, Json> = {}
  for (const { name, title, required } of fields) {
    const entry = typed.get(name)
    if (entry !== undefined && 'error' in entry) return { error: `${title}: ${entry.error}` }
    const value = entry?.value
    if (value === undefined && required) return { error: `${title} is required` }
    if (value !== undefined) made[name] = value
  }
  return { value: made }
}

interface ValueFieldsProps {
  readonly fields: readonly Field[]
  readonly typed: Typed
  readonly onChange: (typed: Typed) => void
}

export function ValueFields({ fields, typed, onChange }: ValueFieldsProps) {
  return (
    <div className="fields">
      {fields.map((field) => (
        <FieldRow
          key={field.name}
          field={field}
          onChange={(value) => onChange(new Map(typed).set(field.name, value))}
        />
      ))}
    </div>
  )
}

interface FieldRowProps {
  readonly field: Field
  readonly onChange: (value: { readonly value: Json | undefined } | { readonly error: string }) => void
}

function FieldRow({ field, onChange }: FieldRowProps) {
  const id = useId()
  const { title, help, required } = field
  return (
    <div className={`field ${field.kind}`}>
      <label htmlFor={id}>
        <code>{title}</code>
        {!required && <span className="faint"> optional</span>}
      </label>
      <FieldInput field={field} id={id} onChange={onChange} />
      {help !== undefined && <p className="faint">{help}</p>}
    </div>
  )
}

function FieldInput({ field, id, onChange }: FieldRowProps & { readonly id: string }) {
  const { kind, value, choices = [] } = field
  const [text, setText] = useState(() =>
    typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value, null, 2),
  )
  if (kind === 'boolean') {
    return (
      <input
        id={id}
        type="checkbox"
        defaultChecked={value === true}
        onChange={(event) => onChange({ value: event.target.checked })}
      />
    )
  }
  if (kind === 'choice') {
    return (
      <select
        id={id}
        defaultValue={value === undefined ? -1 : choices.indexOf(value)}
        onChange={(event) => onChange({ value: choices[Number(event.target.value)] })}
      >
        <option value={-1} />
        {choices.map((choice, i) => (
          <option key={JSON.stringify(choice)} value={i}>
            {typeof choice === 'string' ? choice : JSON.stringify(choice)}
          </option>
        ))}
      </select>
    )
  }
  const type = (next: string): void => {
    setText(next)
    onChange(readAs(kind, next))
  }
  if (kind === 'number') {
    return <input id={id} type="number" step="any" value={text} onChange={(event) => type(event.target.value)} />
  }
  return (
    <textarea
      id={id}
      rows={Math.min(8, text.split('\n').length)}
      className={kind === 'json' ? 'mono' : ''}
      value={text}
      onChange={(event) => type(event.target.value)}
    />
  )
}

function readAs(kind: Field['kind'], text: string): { readonly value: Json | undefined } | { readonly error: string } {
  if (kind === 'text') return { value: text }
  if (text.trim() === '') return { value: undefined }
  if (kind === 'number') return Number.isFinite(Number(text)) ? { value: Number(text) } : { error: 'not a number' }
  try {
    return { value: JSON.parse(text) as Json }
  } catch {
    return { error: 'not valid JSON' }
  }
}

/** The fields as text, where they cannot be changed. */
export function Values({ fields }: { readonly fields: readonly Field[] }) {
  if (fields.length === 0) return null
  return (
    <dl className="values-list">
      {fields.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</dd>
        </div>
      ))}
    </dl>
  )
}
