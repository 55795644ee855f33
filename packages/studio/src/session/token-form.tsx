import { useState } from 'react'
import { Button } from '../ui/controls.tsx'
import { signIn } from './client.ts'

/** Asks for the access token of the server. The page does not keep it: the server answers with a cookie. */
export function TokenForm() {
  const [problem, setProblem] = useState<string>()
  const [pending, setPending] = useState(false)
  const submit = (token: string): void => {
    setPending(true)
    signIn(token).then(
      () => location.reload(),
      (error: unknown) => {
        setPending(false)
        setProblem(error instanceof Error ? error.message : String(error))
      },
    )
  }
  return (
    <form
      className="token-form"
      onSubmit={(event) => {
        event.preventDefault()
        const token = new FormData(event.currentTarget).get('token')
        if (typeof token === 'string' && token !== '') submit(token.trim())
      }}
    >
      <label htmlFor="token">This server requires an access token</label>
      <div>
        <input id="token" name="token" type="password" autoComplete="off" />
        <Button tone="accent" type="submit" disabled={pending}>
          Continue
        </Button>
      </div>
      {problem !== undefined && (
        <p className="bad-text" role="alert">
          Cannot sign in: {problem}
        </p>
      )}
    </form>
  )
}
