// Checks of the clients in JavaScript.
let count = 0;

// Compare two values; prints a line of TAP.
export function same(got, expected, what) {
	const good = JSON.stringify(got) === JSON.stringify(expected);
	console.log(`${good ? 'ok' : 'not ok'} ${++count} - ${what}`);
	if (!good) console.log(`# got ${JSON.stringify(got)}`);
}

// Print the plan, when all checks are done.
export function plan() {
	console.log(`1..${count}`);
}
