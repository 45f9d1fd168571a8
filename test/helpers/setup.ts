import { tmpdir } from 'node:os';

// Log lines of the code under test should not appear between the test titles.
process.env['EVENHAND_LOG_LEVEL'] ??= 'silent';

// On a busy machine, work may take longer than the seconds after which progress is printed.
process.env['EVENHAND_PROGRESS_SECONDS'] ??= '3600';

// Where Mesa is installed, its layer for Vulkan says on stderr that this folder is missing, before any GPU is used.
process.env['XDG_RUNTIME_DIR'] ??= tmpdir();

// Child processes would report the coverage of sources that are compiled in another way, with other positions, which
// lines up with nothing in those of this process.
if (process.env['EVENHAND_COVERAGE'] === '1') delete process.env['NODE_V8_COVERAGE'];
