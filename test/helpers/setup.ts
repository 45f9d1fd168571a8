// Log lines of the code under test should not appear between the test titles.
process.env['EVENHAND_LOG_LEVEL'] ??= 'silent';
