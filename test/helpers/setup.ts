// Logs of the code under test do not belong between the test titles.
process.env['EVENHAND_LOG_LEVEL'] ??= 'silent';
