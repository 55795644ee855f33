import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The page and Millrace on one origin: `npm run dev` hands what is not the page's on to `npm start`. */
const target = process.env.MILLRACE ?? 'http://127.0.0.1:8000'

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [react()],
  server: { proxy: { '/sessions': { target, changeOrigin: true, headers: { origin: target } } } },
})
