// Log lines of the code under test should not appear between the test titles.
process.env['EVENHAND_LOG_LEVEL'] ??= 'silent';

// On a busy machine, work may take longer than the seconds after which progress is printed.
process.env['EVENHAND_PROGRESS_SECONDS'] ??= '3600';
