// The browser of check_report.mjs: makes the runs, starts headless Chromium, opens reports, and counts what is checked.
// Ends with status 77 where Chromium, or playwright-core in report/node_modules, is missing.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
export const program = process.argv[2];
const [makeRuns, golden, folderGiven] = process.argv.slice(3);
export const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : null;
export const folder = resolve(folderGiven);
const packages = process.env.SMDEBUG_REPORT_PACKAGES || join(here, '../report/node_modules');
const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
if (!browserPath) {
    console.log('skipped: Chromium is not installed (Debian package chromium)');
    process.exit(77);
}
if (!existsSync(join(packages, 'playwright-core/index.mjs'))) {
    console.log('skipped: playwright-core is not installed (cd report && npm ci)');
    process.exit(77);
}
const { chromium } = await import(join(packages, 'playwright-core/index.mjs'));
export const shots = join(folder, 'screenshots');
rmSync(folder, { recursive: true, force: true });
mkdirSync(shots, { recursive: true });

export const failures = [];
export let checks = 0;
export function check(good, what) {
    ++checks;
    if (!good) {
        failures.push(what);
        console.log('FAILED: ' + what);
    }
}

// Runs the program; any of these statuses is good.
export function run(statuses, ...args) {
    try {
        execFileSync(program, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 60000, maxBuffer: 2 ** 28 });
        check(statuses.includes(0), `status 0 of ${args.join(' ')}`);
    } catch (failed) {
        if (typeof failed.status !== 'number') throw failed;
        check(statuses.includes(failed.status), `status ${failed.status} of ${args.join(' ')}: ${failed.stderr}`);
    }
}

execFileSync(makeRuns, [join(folder, 'runs')], { stdio: 'inherit', timeout: 60000 });
export const made = (name) => join(folder, 'runs', name);
export const recorded = (name) => resolve(golden, name); // a batch has links to it
export const page = (name) => join(folder, name + '.html');

export const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });

// An opened report; whatever it says or asks for is a failure.
export async function open(name, { width = 1400, height = 900, theme = 'light', hash = '', expectLog = false } = {}) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme });
    const tab = await context.newPage();
    tab.on('console', (message) => check(expectLog, `${name}: the console says: ${message.text()}`));
    tab.on('pageerror', (error) => check(false, `${name}: ${error.stack}`));
    tab.on('dialog', (dialog) => {
        check(false, `${name}: a dialog: ${dialog.message()}`);
        dialog.dismiss();
    });
    tab.on('request', (request) => check(/^(file|data|blob):/.test(request.url()) && (!request.url().startsWith('file:') || request.url().includes(name)), `${name}: asks for ${request.url()}`));
    await tab.goto('file://' + page(name) + hash);
    await tab.waitForFunction(() => document.documentElement.dataset.ready === '1', null, { timeout: 15000 });
    await tab.waitForTimeout(60);
    return tab;
}
export const close = (tab) => tab.context().close();

// How many colours each visible canvas has, in places spread over it.
export const colours = (tab) =>
    tab.evaluate(() =>
        [...document.querySelectorAll('canvas')]
            .filter((canvas) => canvas.offsetParent !== null && canvas.width > 1 && !canvas.classList.contains('scale-bar'))
            .map((canvas) => {
                const copy = document.createElement('canvas'); // to read the picture's own would change how it is drawn
                copy.width = canvas.width;
                copy.height = canvas.height;
                const context = copy.getContext('2d', { willReadFrequently: true });
                context.drawImage(canvas, 0, 0);
                const pixels = context.getImageData(0, 0, copy.width, copy.height).data;
                const seen = new Set();
                for (let i = 0; i < pixels.length; i += 4) if (pixels[i + 3] > 60) seen.add((pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2]);
                return { what: canvas.closest('figure, section, td')?.textContent.slice(0, 40) || '', label: canvas.getAttribute('aria-label') || '', colours: seen.size };
            }),
    );
export async function checkDrawn(tab, name, least) {
    const all = await colours(tab);
    check(all.length >= least, `${name}: ${all.length} pictures, not ${least}`);
    for (const each of all) check(each.colours >= 3, `${name}: a picture has ${each.colours} colours: ${each.label} ${each.what}`);
}

// No part of the page sticks out to the right.
export async function checkWidth(tab, name) {
    const [scroll, width, who] = await tab.evaluate(() => {
        const wide = [...document.querySelectorAll('main *')].find((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.table-box, .uplot, .heat'));
        return [document.documentElement.scrollWidth, innerWidth, wide ? wide.outerHTML.slice(0, 120) : ''];
    });
    check(scroll <= width, `${name}: ${scroll} pixels wide in a window of ${width}: ${who}`);
}

export const shoot = (tab, name, full = true) => tab.screenshot({ path: join(shots, name + '.png'), fullPage: full });
