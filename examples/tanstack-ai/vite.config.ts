import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The page and Millrace share one origin: the dev server forwards these paths to the server of `npm start`. */
const target = process.env.MILLRACE ?? 'http://127.0.0.1:8000'

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [react()],
  server: { proxy: { '/ag-ui': { target }, '/sessions': { target } } },
})
