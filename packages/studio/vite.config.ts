import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The page is built into the CLI package, which serves it. The relative base lets it work behind a path prefix. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [react()],
  resolve: { conditions: ['source', 'import', 'module', 'browser', 'default'] },
  build: { outDir: '../cli/page', emptyOutDir: true, target: 'es2022' },
})
