import type { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { helpExamples } from '../examples.ts'
import type { DoctorOptions } from './doctor.ts'

export function addDoctor(program: Command, { exitWith }: CommandContext): void {
  program
    .command('doctor')
    .summary('check what agents and the server need')
    .description(
      'Checks Node, the disk, the port, the keys, the agents, the model and the database: one line each, with what to do. Exit code 1 when something does not work.',
    )
    .option('--agents <dir>', 'folder of the agents (./agents, or the examples)')
    .option('--data-dir <dir>', 'folder of the log (DATA_DIR, .millrace)')
    .option('--port <n>', 'the port to serve on (PORT, 8000)')
    .option('--offline', 'do not call the model’s provider')
    .option('--json', 'print JSON')
    .addHelpText('after', helpExamples(['millrace doctor', 'in the folder where you run the server']))
    .action(async (options: DoctorOptions) => {
      const { doctorCommand } = await import('./doctor.ts')
      exitWith(await doctorCommand(options))
    })
}
