import type { Toolkit } from '@assistant-ui/react'
import { z } from 'zod'

/** Tools of this page, which every agent may call: one runs by itself, one asks the user. */
export const toolkit: Toolkit = {
  pick_size: {
    type: 'frontend',
    description: 'The size of the window of the user',
    parameters: z.object({}),
    execute: async () => (innerWidth > 600 ? 'large' : 'small'),
    renderText: { running: 'Measuring', complete: 'Measured' },
  },
  pick_colour: {
    type: 'human',
    description: 'Ask the user for a colour',
    parameters: z.object({ of: z.string() }),
    render: ({ args, result, addResult }) => (
      <fieldset>
        <legend>Colour of the {args.of}</legend>
        {result === undefined
          ? ['blue', 'green'].map((colour) => (
              <button type="button" key={colour} onClick={() => addResult(colour)}>
                {colour}
              </button>
            ))
          : String(result)}
      </fieldset>
    ),
  },
}
