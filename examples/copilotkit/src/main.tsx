import '@copilotkit/react-core/v2/styles.css'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import './style.css'

const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<App />)
