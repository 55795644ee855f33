import { wireText } from '@millrace/core/testing'
import { expect, test } from 'vitest'
import { loadVectors } from '../kit/vectors.ts'
import { studioTests } from './studio-page.ts'

const studio = studioTests(0)

test('the page shows what the agents said, and what could not be read', async () => {
  const [vector] = loadVectors('adk').filter(({ name }) => name === 'documented-recovery')
  const answer = await studio.app.inject({
    method: 'POST',
    url: '/sessions/import?dialect=adk',
    headers: { 'content-type': 'text/event-stream' },
    payload: `${wireText(vector?.wire.slice(0, -1) ?? [])}data: this is not JSON\n\n`,
  })
  const { page, shot } = await studio.open(`/s/${answer.json().id}`)
  await page.getByText('Overall Confidence').first().waitFor()
  await expect.poll(() => page.getByTestId('message-author').allTextContents()).toContain('coordinator')
  await expect.poll(() => page.getByText('this is not JSON').count()).toBe(1)
  await shot('foreign')
})
