import { Button } from '../ui/controls.tsx'
import { rememberToken } from './client.ts'

/** Asks for the access token of the server. It is stored for this tab only. */
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
      <label htmlFor="token">This server requires an access token</label>
      <div>
        <input id="token" name="token" type="password" autoComplete="off" />
        <Button tone="accent" type="submit">
          Continue
        </Button>
      </div>
    </form>
  )
}
