// Counts the tokens of texts as current models do (o200k). In comes a JSON object of texts
// on standard input; out goes an object of counts under the same names.

import { Tiktoken } from "js-tiktoken/lite";
import o200k from "js-tiktoken/ranks/o200k_base";

let input = "";
for await (const chunk of process.stdin) input += chunk;
const encoder = new Tiktoken(o200k);
const counts = {};
for (const [name, text] of Object.entries(JSON.parse(input))) counts[name] = encoder.encode(text, "all").length;
console.log(JSON.stringify(counts));
