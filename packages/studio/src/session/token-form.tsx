import { Button } from '../ui/controls.tsx'
import { rememberToken } from './client.ts'

/** The server wants to know who is there. The token stays in this tab. */
export function TokenForm() {
  return (
    <form
      className="token-form"
      onSubmit={(event) => {
        event.preventDefault()
        const token = new FormData(event.currentTarget).get('token')
        if (typeof token === 'string' && token !== '') rememberToken(token)
      }}
    >
      <label htmlFor="token">This server wants a token</label>
      <div>
        <input id="token" name="token" type="password" autoComplete="off" />
        <Button tone="accent" type="submit">
          Enter
        </Button>
      </div>
    </form>
  )
}
