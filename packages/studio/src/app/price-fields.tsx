import { listPrices, type ModelPrice } from '@millrace/core'
import { type FormEvent, useState } from 'react'
import { Button, IconButton } from '../ui/controls.tsx'
import { useSettings } from './settings.ts'

/** Prices of a million tokens by model. They hold on this page only; those of the server are in its configuration. */
export function PriceFields() {
  const { prices, set } = useSettings()
  const { currency, models } = prices
  const [name, setName] = useState('')
  const put = (model: string, price: ModelPrice): void =>
    set({ prices: { currency, models: { ...models, [model]: price } } })
  const remove = (model: string): void => {
    const { [model]: _, ...rest } = models
    set({ prices: { currency, models: rest } })
  }
  const add = (event: FormEvent): void => {
    event.preventDefault()
    const model = name.trim()
    if (model === '') return
    put(model, listPrices.models[model] ?? { input: 0, output: 0 })
    setName('')
  }
  return (
    <section className="price-fields" aria-labelledby="prices-title" data-testid="prices">
      <h3 id="prices-title">Prices</h3>
      <p className="faint">
        Per million tokens, kept in this browser. They replace the costs in the log on this page. Prices for everyone
        are set with <code>prices</code> in <code>millrace.config</code>.
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col">Input</th>
            <th scope="col">Output</th>
            <th scope="col">
              <span className="visually-hidden">Remove</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(models).map(([model, price]) => (
            <tr key={model}>
              <th scope="row" className="ellipsis" title={model}>
                {model}
              </th>
              {(['input', 'output'] as const).map((kind) => (
                <td key={kind}>
                  <input
                    type="number"
                    min="0"
                    step="any"
                    aria-label={`${kind === 'input' ? 'Input' : 'Output'} of ${model}`}
                    value={price[kind]}
                    onChange={(event) => put(model, { ...price, [kind]: Math.max(0, Number(event.target.value)) })}
                  />
                </td>
              ))}
              <td>
                <IconButton icon="close" label={`Remove the price of ${model}`} onClick={() => remove(model)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <form onSubmit={add}>
        <input
          aria-label="Name of a model"
          placeholder="Name of a model"
          list="known-models"
          value={name}
          data-testid="price-model"
          onChange={(event) => setName(event.target.value)}
        />
        <datalist id="known-models">
          {Object.keys(listPrices.models).map((model) => (
            <option key={model} value={model} />
          ))}
        </datalist>
        <Button type="submit">Add</Button>
        <label>
          Currency{' '}
          <input
            className="currency"
            maxLength={3}
            value={currency}
            onChange={(event) => set({ prices: { currency: event.target.value.toUpperCase(), models } })}
          />
        </label>
      </form>
    </section>
  )
}
