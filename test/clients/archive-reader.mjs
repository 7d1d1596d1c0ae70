// Read an archive with DuckDB by the statements that docs/how-to/archive.md prints.
//
//	archive-reader.mjs PAGE ARCHIVE PARQUET
//
// In the statements the folders of the page are those given. It prints a line of JSON: the rows of each query, in the
// order of the page, and what is in the files of Parquet.
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';

const [page, archive, parquet] = process.argv.slice(2);
const text = readFileSync(page, 'utf8');
const blocks = [...text.slice(text.indexOf('## Read it with DuckDB')).matchAll(/^```\n(.*?)^```$/gms)];
const connection = await (await DuckDBInstance.create(':memory:')).connect();

async function rows(statement) {
	return (await connection.runAndReadAll(statement)).getRowObjectsJson();
}
const answers = [];
for (const statement of blocks.map((found) => found[1]).join('').split(/;\n/).filter((one) => one.trim() !== ''))
	answers.push(await rows(statement.replaceAll('/srv/archive', archive).replaceAll('/srv/parquet', parquet)));
const months = await rows(
	`SELECT month, status, count(*)::integer AS n FROM read_parquet('${parquet}/*/*.parquet') GROUP BY ALL`);
console.log(JSON.stringify({ answers, months }));
