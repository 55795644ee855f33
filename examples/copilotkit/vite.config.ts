import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The dev server forwards this path to the runtime of CopilotKit (`npm start` in this folder). */
const target = process.env.RUNTIME ?? 'http://127.0.0.1:4000'

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [react()],
  server: { proxy: { '/api/copilotkit': { target } } },
})
