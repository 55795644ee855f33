import '@fontsource-variable/inter'
import '@fontsource-variable/jetbrains-mono'
import './ui/tokens.css'
import './ui/base.css'
import { currentRoute } from './app/route.ts'
import { applyTheme, useSettings } from './app/settings.ts'
import { client } from './session/client.ts'

// Before anything is drawn: a person who chose light must not see a flash of the system's dark.
applyTheme(useSettings.getState().theme)

// The session is requested while the page itself is still loading. From its first render on, the page retains it itself.
const { session } = currentRoute()
const release = session === undefined ? undefined : client.session(session).retain()

const { start } = await import('./app/start.tsx')
start(document.getElementById('root'))
if (release !== undefined) setTimeout(release, 1000)
