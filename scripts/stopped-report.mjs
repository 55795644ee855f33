// A reporter for `npm test`. vitest writes its report when a suite ends; when a suite is ended before that, this one
// writes the same figures for what it had done, and the names of what was still running.
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'

export default class StoppedReport {
  #passed = 0
  #failed = new Map()
  #files = new Set()
  #tests = new Map()
  #hooks = new Map()

  onInit() {
    process.once('SIGTERM', () => this.#write())
  }

  onTestModuleQueued(file) {
    this.#files.add(file.moduleId)
  }

  onTestModuleEnd(file) {
    this.#files.delete(file.moduleId)
    if (file.state() === 'failed' && file.children.size === 0) this.#failed.set(file.moduleId, [])
  }

  onTestCaseReady(test) {
    this.#tests.set(test.id, test)
  }

  onTestCaseResult(test) {
    this.#tests.delete(test.id)
    const { state } = test.result()
    if (state === 'passed') this.#passed++
    if (state !== 'failed') return
    const file = test.module.moduleId
    this.#failed.set(file, [...(this.#failed.get(file) ?? []), test.fullName])
  }

  onHookStart({ name, entity }) {
    const file = entity.type === 'module' ? entity.moduleId : entity.module.moduleId
    this.#hooks.set(`${entity.id} ${name}`, { file, name })
  }

  onHookEnd({ name, entity }) {
    this.#hooks.delete(`${entity.id} ${name}`)
  }

  #write() {
    const report = {
      numPassedTests: this.#passed,
      numFailedTests: [...this.#failed.values()].reduce((sum, names) => sum + names.length, 0),
      numPendingTests: 0,
      numTodoTests: 0,
      testResults: [...this.#failed].map(([name, names]) => ({
        name,
        status: 'failed',
        assertionResults: names.map((fullName) => ({ status: 'failed', fullName })),
      })),
      running: [...this.#files].map((file) => {
        const tests = [...this.#tests.values()].filter(({ module }) => module.moduleId === file)
        const hooks = [...this.#hooks.values()].filter((hook) => hook.file === file)
        const names = [...tests.map(({ fullName }) => fullName), ...hooks.map(({ name }) => name)]
        return [relative(process.cwd(), file), ...(names.length > 0 ? [names.join(', ')] : [])].join(': ')
      }),
    }
    writeFileSync(process.env.MILLRACE_STOPPED_REPORT, JSON.stringify(report))
  }
}
