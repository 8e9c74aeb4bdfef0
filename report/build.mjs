// Makes include/smdebug/report/page/impl/bundle.ipp of report/src: `npm ci && npm run build`.
// --check: fails where that file is not what the sources give.
// --target FILE: that file instead.
// --sources: prints the hash of the sources alone; needs no packages.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const named = process.argv.indexOf('--target');
const target = named > 0 ? process.argv[named + 1] : join(here, '../include/smdebug/report/page/impl/bundle.ipp');

// As `cat build.mjs package.json package-lock.json src/* | sha256sum` gives it, names in the order of bytes.
function sourceHash() {
    const hash = createHash('sha256');
    const names = ['build.mjs', 'package.json', 'package-lock.json', ...readdirSync(join(here, 'src')).sort().map((n) => 'src/' + n)];
    for (const name of names) hash.update(readFileSync(join(here, name)));
    return hash.digest('hex');
}

const policyHash = (text) => 'sha256-' + createHash('sha256').update(text, 'utf8').digest('base64');

// String literals that every compiler takes: ASCII, short, and without the end of a raw literal.
function pieces(text) {
    const most = 12000;
    const all = [];
    for (let from = 0; from < text.length; from += most) all.push(text.slice(from, from + most));
    for (const piece of all) if (piece.includes(')page"')) throw new Error('the end of a raw string literal is in the text');
    return all.map((piece) => `    R"page(${piece})page",`).join('\n');
}

async function bundle() {
    const esbuild = await import('esbuild');
    const common = { bundle: true, minify: true, write: false, charset: 'ascii', legalComments: 'none', logLevel: 'warning' };
    const built = await esbuild.build({ ...common, entryPoints: [join(here, 'src/main.js')], format: 'iife', target: 'es2020' });
    const styled = await esbuild.build({ ...common, entryPoints: [join(here, 'src/style.css')] });
    const licence = readFileSync(join(here, 'node_modules/uplot/LICENSE'), 'utf8').trim();
    const version = JSON.parse(readFileSync(join(here, 'node_modules/uplot/package.json'), 'utf8')).version;
    const script = `/* uPlot ${version}\n${licence}\n*/\n` + built.outputFiles[0].text.trim() + '\n';
    const style = styled.outputFiles[0].text.trim() + '\n';
    const body = readFileSync(join(here, 'src/body.html'), 'utf8').trim();
    for (const text of [script, style, body]) {
        if (/[^\x09\x0a\x20-\x7e]/.test(text)) throw new Error('not ASCII');
    }
    if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style)) throw new Error('the end of an element is in its text');
    return `// Made by report/build.mjs of report/src and uPlot, whose licence is in the script.  Not to be edited.
// The bodies of <smdebug/report/page/bundle.hpp>.
#pragma once

#include <smdebug/report/page/bundle.hpp>

// clang-format off
namespace smdebug {
inline namespace v1 {
namespace report {
namespace detail {

inline constexpr std::string_view page_script_pieces[] = {
${pieces(script)}
};

inline constexpr std::string_view page_style_pieces[] = {
${pieces(style)}
};

SMDEBUG_INLINE std::span<const std::string_view> page_style() noexcept { return page_style_pieces; }
SMDEBUG_INLINE std::span<const std::string_view> page_script() noexcept { return page_script_pieces; }
SMDEBUG_INLINE std::string_view page_style_hash() noexcept {
    return "${policyHash(style)}";
}
SMDEBUG_INLINE std::string_view page_script_hash() noexcept {
    return "${policyHash(script)}";
}
SMDEBUG_INLINE std::string_view page_body() noexcept {
    return R"page(${body})page";
}
SMDEBUG_INLINE std::string_view page_source_hash() noexcept {
    return "${sourceHash()}";
}

}  // namespace detail
}  // namespace report
}  // namespace v1
}  // namespace smdebug
// clang-format on
`;
}

if (process.argv.includes('--sources')) {
    console.log(sourceHash());
} else {
    const made = await bundle();
    if (!process.argv.includes('--check')) {
        writeFileSync(target, made);
        console.log(`${target.replace(/.*\/include/, 'include')}: ${made.length} bytes`);
    } else if (readFileSync(target, 'utf8') !== made) {
        console.error('the bundle is not what report/src gives: npm run build');
        process.exitCode = 1;
    } else {
        console.log('the bundle is what report/src gives');
    }
}
