import { FunctionTool, LlmAgent } from '@google/adk'
import { model, specialists } from '@millrace/server/adk'
import { z } from 'zod'
import { assessBurn } from './assess-burn.ts'
import { decidePathway } from './assess-nepa.ts'
import { assessSalvage } from './assess-salvage.ts'
import { assessTrails } from './assess-trails.ts'
import { fires } from './data/fires.ts'
import { areaOfProject, coordination, format, roadsOfProject } from './instructions.ts'
import { recoveryScript } from './offline.ts'
import { keepBriefing, keepFindings } from './state.ts'

export const title = 'Recovery'
export const description =
  'A coordinator and four specialists brief a forest on what a fire left and what may be done about it.'
export const examples = [
  'Give me a recovery briefing for Cedar Creek Fire',
  'How severe was the Cedar Creek burn?',
  'Which trails must stay closed?',
  'What is the salvage timber worth?',
  'Which NEPA pathway fits a salvage of 200 acres with 2 miles of temporary road?',
]

const llm = model({ offline: recoveryScript })
const fireId = z
  .string()
  .describe(`${fires.map(({ id }) => id).join(', ')}; for a fire or a year without data its own name, and no other id`)

const burnAnalyst = new LlmAgent({
  name: 'burn_analyst',
  description: 'Soil burn severity by sector, from imagery.',
  model: llm,
  instruction: `You are a burn analyst. Call assess_severity, then report. ${format}`,
  tools: [
    new FunctionTool({
      name: 'assess_severity',
      description: 'Classifies the burn sectors of a fire by dNBR.',
      parameters: z.object({ fire_id: fireId }),
      execute: ({ fire_id }, context) => keepFindings('burn_findings', assessBurn(fire_id), context),
    }),
  ],
})

const trailAssessor = new LlmAgent({
  name: 'trail_assessor',
  description: 'Damage to trails and bridges, closures, repair costs.',
  model: llm,
  instruction: `You are a trail assessor. Call classify_damage, then report. ${format}`,
  tools: [
    new FunctionTool({
      name: 'classify_damage',
      description: 'Rates the surveyed damage points of a fire and says which trails must close.',
      parameters: z.object({ fire_id: fireId }),
      execute: ({ fire_id }, context) => keepFindings('trail_findings', assessTrails(fire_id), context),
    }),
  ],
})

const cruisingAssistant = new LlmAgent({
  name: 'cruising_assistant',
  description: 'Salvage volume and value of fire-killed timber.',
  model: llm,
  instruction: `You are a timber cruiser. Call assess_salvage, then report. ${format}`,
  tools: [
    new FunctionTool({
      name: 'assess_salvage',
      description: 'Net volume and value by plot; optionally only plots in some sectors.',
      parameters: z.object({ fire_id: fireId, sectors: z.array(z.string()).optional() }),
      execute: ({ fire_id, sectors }, context) =>
        keepFindings('timber_findings', assessSalvage(fire_id, sectors), context),
    }),
  ],
})

const nepaAdvisor = new LlmAgent({
  name: 'nepa_advisor',
  description: 'Which environmental review a project needs, with the regulation.',
  model: llm,
  instruction: `You are a NEPA advisor. Call decide_pathway, then report, with a line **Regulatory Basis:** per action. Name the limits and which of them
the project breaks, and what was not checked. A rule is applied to numbers: state no confidence. ${format}`,
  tools: [
    new FunctionTool({
      name: 'decide_pathway',
      description:
        'Compares a salvage project with the limits of the categorical exclusions; without acres, all that is worth salvaging.',
      parameters: z.object({
        fire_id: fireId,
        salvage_acres: z.number().min(0).optional().describe(areaOfProject),
        temporary_road_miles: z.number().min(0).optional().describe(roadsOfProject),
      }),
      execute: ({ fire_id, salvage_acres, temporary_road_miles }, context) =>
        keepFindings('nepa_findings', decidePathway(fire_id, salvage_acres, temporary_road_miles), context),
    }),
  ],
})

export const rootAgent = new LlmAgent({
  name: 'coordinator',
  description,
  model: llm,
  instruction: coordination,
  afterModelCallback: keepBriefing,
  tools: specialists([burnAnalyst, trailAssessor, cruisingAssistant, nepaAdvisor]),
})
