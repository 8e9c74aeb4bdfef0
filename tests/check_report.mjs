// check_report.mjs SMDEBUG REPORT_RUNS GOLDEN FOLDER [--only NAME]: makes reports, and looks at them in headless Chromium as
// a person would: nothing on the console, no request, pictures that are drawn (pixels, not only elements), the bubble at the
// pointer, from a finding to its place, legend, zoom, pan, keyboard, both themes, three widths, paper.
// Screenshots lie in FOLDER/screenshots.  Exit status 77 where Chromium, or playwright-core in report/node_modules, is missing.
import { spawn } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { browser, check, checkDrawn, checks, checkWidth, close, colours, failures, folder, made, only, open, page, program, recorded, run, shoot, shots } from './report_browser.mjs';

// Cases ---------------------------------------------------------------------------------------------------------------------
const cases = {
    // Everything that can be done with a page.
    async bad() {
        run([3], 'report', made('bad'), '-o', page('bad'));
        const tab = await open('bad');
        await checkDrawn(tab, 'bad', 5);
        await checkWidth(tab, 'bad');
        const heading = await tab.textContent('#findings-title');
        check(/rules? found something/.test(heading), `bad: the heading says ${heading}`);
        check(/^The first value that was not finite: step \d+, /.test(await tab.textContent('#first-bad-value')), 'bad: where NaN came from stands at the top');
        check((await tab.locator('#findings-part .rule.bad').count()) > 0, 'bad: a rule is marked');

        // From a finding to its place.
        const link = tab.locator('.findings tbody .link').filter({ hasText: 'gradient/' }).first();
        const wanted = await link.textContent();
        await link.click();
        await tab.waitForTimeout(700);
        check((await tab.inputValue('#tensor-part input[type=search]')) === wanted, `bad: a click on ${wanted} shows it`);
        check(await tab.evaluate(() => document.querySelector('#tensor-part').getBoundingClientRect().top < innerHeight / 2), 'bad: and goes there');
        check(new URL(tab.url()).hash.includes('step='), 'bad: and its step is kept in the address');

        // The bubble of a heat map, by pointer; then its cursor, by keyboard.
        const heat = tab.locator('#maps-part .heat canvas').first();
        await heat.scrollIntoViewIfNeeded();
        await tab.waitForTimeout(150); // scrolling hides bubbles
        let box = await heat.boundingBox();
        await tab.mouse.move(box.x + box.width * 0.6, box.y + 12);
        await tab.waitForTimeout(50);
        const tip = await tab.textContent('.tip');
        check((await tab.isVisible('.tip')) && /step/.test(tip) && /mean of \|x\|/.test(tip), `bad: the bubble says ${tip}`);
        await heat.focus();
        await tab.keyboard.press('ArrowDown');
        await tab.keyboard.press('ArrowRight');
        const first = await tab.textContent('.tip');
        await tab.keyboard.press('ArrowRight');
        const second = await tab.textContent('.tip');
        check(first !== second && /step/.test(second), `bad: arrow keys move: ${first} / ${second}`);
        await tab.keyboard.press('Enter');
        await tab.waitForTimeout(700);
        check(second.startsWith(await tab.inputValue('#tensor-part input[type=search]')), `bad: Enter chooses: ${second}`);

        // Zoom by dragging, all pictures together; pan by buttons; back.
        await heat.scrollIntoViewIfNeeded();
        box = await heat.boundingBox();
        const before = await tab.inputValue('[aria-label="First step shown"]');
        await tab.mouse.move(box.x + box.width * 0.5, box.y + 20);
        await tab.mouse.down();
        await tab.mouse.move(box.x + box.width * 0.7, box.y + 24, { steps: 4 });
        await tab.mouse.up();
        await tab.waitForTimeout(80);
        const zoomed = Number(await tab.inputValue('[aria-label="First step shown"]'));
        check(zoomed > Number(before), `bad: dragging zooms: from ${before} to ${zoomed}`);
        await tab.waitForTimeout(250); // pictures off the screen come later
        await checkDrawn(tab, 'bad, zoomed', 5);
        await shoot(tab, 'bad_zoomed');
        await tab.click('[aria-label="Later steps"]');
        check(Number(await tab.inputValue('[aria-label="First step shown"]')) > zoomed, 'bad: a button pans');
        await tab.click('[aria-label="Show all steps"]');
        check((await tab.inputValue('[aria-label="First step shown"]')) === before, 'bad: a button shows all steps again');

        // A chart: its bubble, its legend, zoom, keyboard, log, smoothing.
        const plot = tab.locator('#scalars-part .lines-plot').first();
        await plot.scrollIntoViewIfNeeded();
        await tab.waitForTimeout(150);
        const over = await plot.locator('.u-over').boundingBox();
        await tab.mouse.move(over.x + over.width * 0.3, over.y + over.height * 0.5);
        await tab.mouse.move(over.x + over.width * 0.31, over.y + over.height * 0.5);
        await tab.waitForTimeout(60);
        check((await tab.isVisible('.tip')) && /TRAIN|EVAL/.test(await tab.textContent('.tip')), `bad: the bubble of a chart says ${await tab.textContent('.tip')}`);
        const pixels = () => plot.locator('canvas').evaluate((canvas) => canvas.toDataURL().length + canvas.toDataURL().slice(-300));
        const shown = await pixels();
        const key = tab.locator('#scalars-part .key').filter({ hasText: 'EVAL' }).first();
        await key.click();
        await tab.waitForTimeout(60);
        check((await key.getAttribute('aria-pressed')) === 'false' && (await pixels()) !== shown, 'bad: a key of the legend hides its curve');
        const keys = tab.locator('#scalars-part .key').filter({ hasText: 'EVAL' });
        check((await keys.evaluateAll((all) => all.every((each) => each.getAttribute('aria-pressed') === 'false'))), 'bad: in all charts');
        await key.focus();
        await tab.keyboard.press('Enter');
        check((await key.getAttribute('aria-pressed')) === 'true', 'bad: by keyboard it is shown again');
        const linear = await pixels();
        await tab.click('#log');
        await tab.waitForTimeout(60);
        check((await pixels()) !== linear, 'bad: the logarithmic scale is another picture');
        const raw = await pixels();
        await tab.locator('#smooth').fill('0.8');
        await tab.waitForTimeout(60);
        check((await pixels()) !== raw, 'bad: smoothing is another picture');
        await plot.focus();
        await tab.keyboard.press('ArrowRight');
        const at = await tab.textContent('.tip');
        await tab.keyboard.press('ArrowRight');
        check(/^step/.test(at) && (await tab.textContent('.tip')) !== at, 'bad: arrow keys move in a chart');
        const area = await plot.locator('.u-over').boundingBox();
        await tab.mouse.move(area.x + area.width * 0.2, area.y + 40);
        await tab.mouse.down();
        await tab.mouse.move(area.x + area.width * 0.5, area.y + 44, { steps: 4 });
        await tab.mouse.up();
        await tab.waitForTimeout(80);
        check(new URL(tab.url()).hash.includes('range=') || (await tab.inputValue('[aria-label="Last step shown"]')) !== '239', 'bad: dragging in a chart zooms');

        // The view is in the address: a reload shows it again.
        await tab.waitForTimeout(250);
        const view = [await tab.inputValue('[aria-label="First step shown"]'), await tab.inputValue('#tensor-part input[type=search]'), await tab.isChecked('#log')].join();
        await tab.reload();
        await tab.waitForFunction(() => document.documentElement.dataset.ready === '1');
        check([await tab.inputValue('[aria-label="First step shown"]'), await tab.inputValue('#tensor-part input[type=search]'), await tab.isChecked('#log')].join() === view, 'bad: a reload keeps the view');
        await tab.click('[aria-label="Show all steps"]');

        // The theme: by button, and kept.
        const background = () => tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
        const light = await background();
        await tab.click('#theme');
        await tab.click('#theme');
        check((await background()) !== light, 'bad: the button makes it dark');
        await checkDrawn(tab, 'bad, dark by button', 5);
        await tab.reload();
        await tab.waitForFunction(() => document.documentElement.dataset.ready === '1');
        check((await background()) !== light, 'bad: and it stays so');

        // Paper.
        await tab.emulateMedia({ media: 'print' });
        check(!(await tab.isVisible('.steps-bar')), 'bad: buttons are not printed');
        const pdf = await tab.pdf({ format: 'A4', printBackground: true });
        check(pdf.length > 20000, 'bad: it prints');
        writeFileSync(join(shots, 'bad.pdf'), pdf);
        await close(tab);

        // What a screen reader, and keys alone, find.
        const other = await open('bad');
        const unnamed = await other.evaluate(() => [...document.querySelectorAll('button, select, input, canvas[tabindex], [role=application]')].filter((e) => e.offsetParent !== null && !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label') || e.title)).map((e) => e.outerHTML.slice(0, 100)));
        check(unnamed.length === 0, `bad: without a name: ${unnamed}`);
        check((await other.getAttribute('html', 'lang')) === 'en' && (await other.locator('h1').count()) === 1, 'bad: language and heading');
        await other.keyboard.press('Tab');
        check((await other.evaluate(() => document.activeElement.id)) === 'theme', 'bad: Tab begins with the theme');
        await close(other);
    },

    async themes_and_widths() {
        run([3], 'report', made('bad'), '-o', page('themes'));
        for (const theme of ['light', 'dark']) {
            for (const width of [380, 800, 1400]) {
                const name = `themes_${theme}_${width}`;
                const tab = await open('themes', { width, theme });
                await checkDrawn(tab, name, 5);
                await checkWidth(tab, name);
                await shoot(tab, name);
                await close(tab);
            }
        }
    },

    async good() {
        run([0, 3], 'report', made('good'), '-o', page('good'), '--title', 'A good run');
        const tab = await open('good');
        check((await tab.title()) === 'A good run', 'good: its title');
        await checkDrawn(tab, 'good', 4);
        await shoot(tab, 'good');
        await close(tab);
    },

    async recorded() {
        for (const [name, status] of [['torch_mlp', [0, 3]], ['torch_ddp', [0, 3]], ['xgboost_like', [0, 3, 1]], ['reductions_only', [0, 3]], ['dtypes', [0, 3, 1]]]) {
            run(status, 'report', recorded(name), '-o', page(name));
            const tab = await open(name);
            await checkDrawn(tab, name, 1);
            await checkWidth(tab, name);
            await shoot(tab, name);
            await close(tab);
        }
    },

    // A logarithmic axis: zeros are left out and counted, the other points are drawn, alone or not.
    async zeros() {
        const numbers = { loss: (step) => (step % 9 === 4 ? 0 : 10 / (step + 1)), sparse: (step) => (step % 2 ? 0 : step + 1) };
        for (let step = 0; step < 90; ++step) {
            const at = join(folder, `zeros/step_${step}`);
            mkdirSync(at, { recursive: true });
            for (const [name, number] of Object.entries(numbers)) {
                const head = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }".padEnd(117) + '\n';
                const bytes = Buffer.alloc(10 + head.length + 4);
                bytes.write('\x93NUMPY\x01\x00', 'latin1');
                bytes.writeUInt16LE(head.length, 8);
                bytes.write(head, 10, 'latin1');
                bytes.writeFloatLE(number(step), 10 + head.length);
                writeFileSync(join(at, name + '.npy'), bytes);
            }
        }
        run([0, 3], 'report', join(folder, 'zeros'), '-o', page('zeros'));
        const tab = await open('zeros', { hash: '#log=1' });
        const notes = await tab.evaluate(() => [...document.querySelectorAll('#scalars-part .chart-note')].map((each) => each.textContent));
        check(notes.join() === '0 at 10 steps: not shown,0 at 45 steps: not shown', `zeros: notes are ${notes}`);
        const drawn = await tab.evaluate(() =>
            [...document.querySelectorAll('#scalars-part canvas')].map((canvas) => {
                const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
                let coloured = 0;
                for (let i = 0; i < data.length; i += 4) coloured += data[i + 3] > 100 && data[i + 2] - data[i] > 60 ? 1 : 0;
                return coloured;
            }),
        );
        check(drawn.length === 2 && drawn.every((pixels) => pixels > 200), `zeros: points of the curves are ${drawn} pixels`);
        await shoot(tab, 'zeros');
        await close(tab);
    },

    // Cut in the middle of an event file: named on the page, the rest is shown.
    async damaged() {
        cpSync(made('good'), join(folder, 'runs/cut'), { recursive: true });
        const events = join(folder, 'runs/cut/events/000000000100/000000000100_worker_0.tfevents');
        writeFileSync(events, readFileSync(events).subarray(0, 900));
        rmSync(join(folder, 'runs/cut/events/000000000120'), { recursive: true });
        run([1, 4], 'report', join(folder, 'runs/cut'), '-o', page('damaged'));
        const tab = await open('damaged');
        check((await tab.locator('.damage li').count()) > 1, 'damaged: what cannot be read is named');
        check(/Damaged places(?!none)/.test(await tab.textContent('#facts-part')), 'damaged: and counted');
        await checkDrawn(tab, 'damaged', 4);
        await shoot(tab, 'damaged');
        await close(tab);
        run([1, 4], 'report', join(folder, 'no_run'), recorded('torch_mlp'), '-o', page('no_run'));
        const other = await open('no_run');
        check(/no_run/.test(await other.textContent('#facts-part')), 'no_run: why it cannot be opened');
        await close(other);
    },

    async empty() {
        run([1], 'report', made('empty'), '-o', page('empty'));
        const tab = await open('empty');
        check(/No tensor/.test(await tab.textContent('main')), 'empty: it says so');
        await shoot(tab, 'empty');
        await close(tab);
    },

    // What healthy runs have had, behind the line of a number that the rule learned has found something of.
    async learned() {
        const normal = join(folder, 'normal.json');
        run([0], 'learn', made('healthy'), '-o', normal);
        run([3], 'report', made('unhealthy'), '--rule', 'learned,file=' + normal, '-o', page('learned'));
        for (const theme of ['light', 'dark']) {
            const tab = await open('learned', { theme });
            const row = tab.locator('.findings tbody tr').filter({ hasText: 'healthy runs' }).filter({ has: tab.getByText('fc.weight', { exact: true }) });
            await row.locator('.link').first().click();
            await tab.waitForTimeout(700);
            const figures = tab.locator('#tensor-part .beside figure');
            const names = await figures.locator('figcaption .name').allTextContents();
            check(names.join() === 'l2 norm beside 8 healthy runs,largest |x| beside 8 healthy runs', `learned: pictures of ${names}`);
            check(await figures.first().evaluate((one) => one.getBoundingClientRect().top < innerHeight), 'learned: in sight after the click');
            const keys = await figures.first().locator('.key, .mark-key').allTextContents();
            check(keys.join() === 'unhealthy,in 8 healthy runs, beyond: a finding, the first beyond,\u25b2 a rule found something', `learned: its legend is ${keys}`);

            // The bubble, at the first step and at the last: in the range, and beyond the bounds.
            const plot = figures.first().locator('.lines-plot');
            const numbers = async (where) => {
                await plot.focus();
                await tab.keyboard.press(where);
                const found = /l2 norm: ([\d.]+)healthy: ([\d.]+) to ([\d.]+) in 8 runs; fires below ([\d.]+), above ([\d.]+)$/.exec(await tab.textContent('.tip'));
                check(found !== null, `learned: the bubble says ${await tab.textContent('.tip')}`);
                return (found || []).slice(1).map(Number);
            };
            const first = await numbers('Home');
            check(first[3] < first[1] && first[1] < first[2] && first[2] < first[4], `learned: bounds are around the range: ${first}`);
            check(first[3] < first[0] && first[0] < first[4], `learned: at first all is well: ${first}`);
            const last = await numbers('End');
            check(last[0] > last[4], `learned: the last step is beyond its bound: ${last}`);
            await tab.keyboard.press('Escape');

            // The range is drawn, and its key hides it.
            const covered = (which) =>
                which.locator('canvas').evaluate((canvas) => {
                    const copy = document.createElement('canvas'); // to read the picture's own would change how it is drawn
                    copy.width = canvas.width;
                    copy.height = canvas.height;
                    const context = copy.getContext('2d', { willReadFrequently: true });
                    context.drawImage(canvas, 0, 0);
                    const { data } = context.getImageData(0, 0, copy.width, copy.height);
                    let green = 0;
                    for (let i = 0; i < data.length; i += 4) green += data[i + 3] > 8 && data[i + 1] > data[i] + 40 && data[i + 1] > data[i + 2] ? 1 : 0;
                    return green / (canvas.width * canvas.height);
                });
            const drawn = await covered(figures.first());
            check(drawn > 0.05, `learned: the range covers ${drawn} of its picture`);
            await shoot(tab, `learned_${theme}`);
            const key = figures.first().locator('.key').nth(1);
            await key.click();
            const hidden = await covered(figures.first());
            check((await key.getAttribute('aria-pressed')) === 'false' && hidden < 0.01, `learned: hidden, it covers ${hidden}`);
            await key.click();

            // A scalar's, in its picture, and a mode's own.
            const scalars = await tab.locator('#scalars-part .key').allTextContents();
            check(scalars.join() === 'TRAIN,EVAL,EVAL in 8 healthy runs,TRAIN in 8 healthy runs', `learned: scalars have ${scalars}`);
            await tab.fill('#tensor-part input[type=search]', 'CrossEntropyLoss_output_0');
            await tab.keyboard.press('Enter');
            await tab.waitForTimeout(80);
            await tab.selectOption('[aria-label="Mode of the tensor"]', 'EVAL');
            await tab.waitForTimeout(80);
            check((await figures.locator('.name').allTextContents()).join() === 'value beside 8 healthy runs', 'learned: the value of a mode');
            await checkDrawn(tab, `learned, ${theme}`, 3);
            await close(tab);
        }
        const narrow = await open('learned', { width: 380 });
        await checkWidth(narrow, 'learned');
        await shoot(narrow, 'learned_narrow');
        await close(narrow);
        // Of a part of the steps, all numbers: four are shown at first; where nothing is judged there is no range.
        run([0], 'learn', made('healthy'), '-o', normal, '--steps', '20:60', '--reductions', 'abs_max,abs_mean,l1,l2,max,mean,min,std,zeros');
        run([0], 'report', made('unhealthy'), '--rule', `learned,file=${normal},kinds=high,tensor_regex=gradient`, '-o', page('part'));
        const part = await open('part', { hash: '#tensor=gradient/fc.weight' });
        check((await part.locator('.beside figure').count()) === 4, 'learned: four numbers at first');
        await part.click('.beside + .more');
        const all = await part.locator('.beside .name').allTextContents();
        check(all.map((each) => each.replace(' beside 8 healthy runs', '')).join() === 'largest |x|,mean of |x|,l1 norm,l2 norm,maximum,mean,minimum,standard deviation', `learned: all numbers: ${all}`);
        const bubble = async (place, key, times) => {
            const plot = part.locator('.beside .lines-plot').nth(place);
            await plot.focus();
            for (let i = 0; i < times; ++i) await part.keyboard.press(key);
            return part.textContent('.tip');
        };
        const at = await bubble(1, 'End', 1);
        check(/^step \d+mean of \|x\|: [\d.]+$/.test(at), `learned: after the last step that is judged: ${at}`);
        const [, mean] = /mean of \|x\|: ([\d.]+)healthy: [\d.]+ to [\d.]+ in 8 runs; fires above [\d.]+$/.exec(await bubble(1, 'ArrowLeft', 45)) || [];
        await bubble(2, 'End', 1);
        const [, sum] = /l1 norm: ([\d.]+)healthy/.exec(await bubble(2, 'ArrowLeft', 45)) || [];
        check(Math.abs(sum / mean / 512 - 1) < 1e-3, `learned: the l1 norm ${sum} is 512 times ${mean}`);
        await close(part);
        run([3, 0], 'report', made('unhealthy'), '-o', page('unlearned'));
        const tab = await open('unlearned');
        check((await tab.locator('.beside figure').count()) === 0, 'learned: no picture where nothing was learned');
        await close(tab);
    },

    async workers() {
        run([0, 3], 'report', made('workers'), '-o', page('workers'));
        const tab = await open('workers', { hash: '#tensor=fc.weight' });
        await checkDrawn(tab, 'workers', 4);
        check(/worker_11/.test(await tab.textContent('#tensor-part')), 'workers: the one that differs is named');
        await tab.selectOption('[aria-label="Worker"]', { label: 'worker_3' });
        await tab.waitForTimeout(80);
        await checkDrawn(tab, 'workers, one', 4);
        await shoot(tab, 'workers');
        await close(tab);
    },

    async hostile() {
        run([0, 3], 'report', made('hostile'), '-o', page('hostile'), '--title', '</title><script>alert(3)</script>&amp;');
        const text = readFileSync(page('hostile'), 'utf8');
        check(!text.includes('<img') && !text.includes('<svg') && !text.includes('alert(3)</script>'), 'hostile: names are no markup');
        check(/default-src 'none'; script-src 'sha256-/.test(text), 'hostile: the policy');
        const tab = await open('hostile');
        check((await tab.locator('img, svg').count()) === 0, 'hostile: no element comes of a name');
        check((await tab.title()) === '</title><script>alert(3)</script>&amp;', 'hostile: the title is a text');
        check((await tab.locator('#tensor-names option').evaluateAll((all) => all.map((each) => each.value))).includes('</script><img src=x onerror=alert(1)>'), 'hostile: the name is a text');
        for (const name of ['__proto__', '<!--<script>', "a\"b'c&amp;"]) {
            await tab.fill('#tensor-part input[type=search]', name);
            await tab.keyboard.press('Enter');
            await tab.waitForTimeout(80);
            check(await tab.isVisible('#tensor-part figure'), `hostile: ${name} is shown`);
        }
        await checkDrawn(tab, 'hostile', 3);
        await shoot(tab, 'hostile');
        // The policy holds: nothing that is put in runs.
        const stopped = await open('hostile', { expectLog: true });
        const ran = await stopped.evaluate(() => {
            const script = document.createElement('script');
            script.textContent = 'window.ran = 1';
            document.body.append(script);
            return window.ran === 1;
        });
        check(!ran, 'hostile: a script that is put in does not run');
        await close(stopped);
        await close(tab);
    },

    // Steps that share a column lose neither an outlier nor a NaN.
    async long() {
        run([0, 3], 'report', made('long'), '-o', page('long'), '--max-size', '1M');
        check(statSync(page('long')).size < 1.3 * 2 ** 20, `long: ${statSync(page('long')).size} bytes`);
        const tab = await open('long', { hash: '#metric=l2' });
        check(/share one, the largest/.test(await tab.textContent('#maps-part')), 'long: it says that steps share columns');
        check(/4(\.\d*)?e6/.test(await tab.textContent('#maps-part .legend-scale')), `long: the outlier is the end of the scale: ${await tab.textContent('#maps-part .legend-scale')}`);
        check(/NaN or infinite/.test(await tab.textContent('#maps-part .legend-scale')), 'long: the NaN is there');
        await checkDrawn(tab, 'long', 4);
        await shoot(tab, 'long');
        await close(tab);
    },

    // Numbers that no float holds are shown as they are, NaN and findings have marks of their own, names are escaped.
    async extreme() {
        run([0, 3], 'report', made('extreme'), '-o', page('extreme'));
        const tab = await open('extreme', { hash: '#tensor=' + encodeURIComponent('\\u202etiny\\n.weight') });
        const text = await tab.textContent('main');
        check(text.includes('\\u202etiny\\n.weight') && !/[\u202e\n]tiny/.test(text), 'extreme: names are escaped');
        const loss = tab.locator('#scalars-part .lines-plot').first();
        await loss.focus();
        await tab.keyboard.press('Home');
        check(/1e300/.test(await tab.textContent('.tip')), `extreme: a loss beyond floats: ${await tab.textContent('.tip')}`);
        const tensor = tab.locator('#tensor-part .lines-plot').first();
        await tensor.focus();
        await tab.keyboard.press('Home');
        check(/e\u2212310/.test(await tab.textContent('.tip')), `extreme: subnormals: ${await tab.textContent('.tip')}`);
        const keys = await tab.locator('#tensor-part .mark-key').allTextContents();
        check(keys.some((each) => /a rule found something/.test(each)) && keys.some((each) => /NaN or infinite/.test(each)), `extreme: a legend of marks: ${keys}`);
        await checkDrawn(tab, 'extreme', 4);
        await shoot(tab, 'extreme');
        await close(tab);
        run([0, 3], 'report', made('single'), '-o', page('single'));
        const one = await open('single');
        check((await one.locator('.histogram canvas').count()) === 1, 'single: a histogram');
        await checkDrawn(one, 'single', 2);
        await shoot(one, 'single');
        await close(one);
    },

    // A page of a run that grows reads itself again, and shows what it showed.
    async follow() {
        const growing = join(folder, 'runs/growing');
        // Steps below `end`, as a hook writes them: events, then indexes, each whole when it appears; at last the mark of the end.
        const bring = (end, over) => {
            const rank = (path) => (path.startsWith('index/') ? 1 : path === 'training_job_end.ts' ? 2 : 0);
            const all = readdirSync(made('good'), { recursive: true }).filter((path) => statSync(join(made('good'), path)).isFile());
            for (const path of all.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))) {
                const step = /0*(\d+)_worker/.exec(path);
                if ((step && Number(step[1]) >= end && !path.startsWith('collections')) || existsSync(join(growing, path)) || (rank(path) === 2 && !over)) continue;
                mkdirSync(dirname(join(growing, path)), { recursive: true });
                copyFileSync(join(made('good'), path), join(folder, 'whole'));
                renameSync(join(folder, 'whole'), join(growing, path));
            }
        };
        bring(100, false);
        const program_ = spawn(program, ['report', growing, '-o', page('growing'), '--follow', '--interval', '300ms'], { stdio: 'ignore' });
        const ended = new Promise((good) => program_.on('exit', good));
        try {
            for (let i = 0; i < 200 && !existsSync(page('growing')); ++i) await new Promise((good) => setTimeout(good, 50));
            const tab = await open('growing');
            // Paused from its first moment on, so that it does not read itself again between two steps of this test.
            await tab.click('#live button');
            await tab.reload();
            await tab.waitForFunction(() => document.documentElement.dataset.ready === '1');
            check((await tab.isVisible('#live')) && (await tab.getAttribute('#live', 'data-paused')) === '1', 'follow: it says that it grows, and waits when asked to');
            const before = await tab.textContent('#facts-part');
            await tab.fill('#tensor-part input[type=search]', 'head.fc.weight');
            await tab.keyboard.press('Enter');
            await tab.evaluate(() => document.activeElement.blur());
            await tab.selectOption('[aria-label="Number"]', 'l2');
            await tab.evaluate(() => document.activeElement.blur());
            await tab.click('[aria-label="Zoom in"]');
            await tab.click('#theme');
            const view = await Promise.all([tab.inputValue('[aria-label="First step shown"]'), tab.inputValue('[aria-label="Last step shown"]')]);
            const at = await tab.evaluate(() => {
                document.querySelector('#live button').click();
                scrollTo(0, 500);
                return scrollY;
            });
            bring(1000, true);
            const left = setTimeout(() => program_.kill(), 20000);
            check([0, 3].includes(await ended), 'follow: it ends with the job');
            clearTimeout(left);
            await tab.waitForFunction((old) => document.documentElement.dataset.ready === '1' && document.querySelector('#facts-part').textContent !== old, before, { timeout: 10000 });
            await tab.waitForFunction(() => document.documentElement.dataset.ready === '1' && document.getElementById('live').hidden, null, { timeout: 10000 });
            check(/ended/.test(await tab.textContent('#facts-part')), 'follow: the page has noticed');
            check((await tab.inputValue('#tensor-part input[type=search]')) === 'head.fc.weight' && (await tab.inputValue('[aria-label="Number"]')) === 'l2', 'follow: the tensor is still chosen');
            check((await Promise.all([tab.inputValue('[aria-label="First step shown"]'), tab.inputValue('[aria-label="Last step shown"]')])).join() === view.join(), 'follow: the zoom is kept');
            check(Math.abs((await tab.evaluate(() => scrollY)) - at) < 50, `follow: and the place on the page: ${at}, ${await tab.evaluate(() => scrollY)}`);
            check((await tab.getAttribute('html', 'data-theme')) === 'light', 'follow: and the theme');
            await close(tab);
        } finally {
            program_.kill();
        }
    },

    // A batch of 500.
    async batch() {
        mkdirSync(join(folder, 'batch'));
        const list = [];
        for (let i = 0; i < 500; ++i) {
            const to = join(folder, 'batch', `job-${String(i).padStart(3, '0')}`);
            if (i !== 400) symlinkSync(i % 50 === 7 ? made('hostile') : recorded('torch_mlp'), to);
            list.push(to);
        }
        writeFileSync(join(folder, 'list.txt'), list.join('\n') + '\n');
        writeFileSync(join(folder, 'job-003.html'), '<!doctype html><title>job 3</title>');
        run([3, 4], 'scan', '--list', join(folder, 'list.txt'), '--report', page('batch'), '--format', 'csv');
        const tab = await open('batch', { width: 1280 });
        const rows = () => tab.locator('.batch tbody tr').count();
        check((await rows()) === 500, `batch: ${await rows()} rows`);
        await checkWidth(tab, 'batch');
        const room = await tab.evaluate(() => [document.querySelectorAll('.turned .rule-head').length, document.querySelector('.batch').parentElement].map((each) => (each instanceof Element ? each.scrollWidth <= each.clientWidth : each)));
        check(room[0] > 9 && room[1], `batch: ${room[0]} rules have room`);
        const [drawn] = (await colours(tab)).filter((each) => /loss/.test(each.label));
        check(drawn && drawn.colours > 1, 'batch: a line of a loss is drawn');
        check(/job-007/.test(await tab.locator('.batch tbody th').first().textContent()), 'batch: those with findings come first');
        await tab.click('.batch thead button:has-text("Run")');
        check(/job-000/.test(await tab.locator('.batch tbody th').first().textContent()), 'batch: sorted by path');
        await tab.fill('[aria-label="Only runs whose path has"]', 'job-00');
        check((await rows()) === 10, 'batch: filtered by path');
        check((await tab.locator('.batch a').getAttribute('href')) === 'job-003.html', 'batch: a report is linked');
        await tab.fill('[aria-label="Only runs whose path has"]', '');
        await tab.selectOption('[aria-label="Only runs"]', 'failed');
        check((await rows()) === 1, 'batch: those that cannot be read');
        await tab.selectOption('[aria-label="Only runs"]', 'all');
        await shoot(tab, 'batch', false);
        await close(tab);
        const narrow = await open('batch', { width: 380, theme: 'dark' });
        await checkWidth(narrow, 'batch, narrow');
        await shoot(narrow, 'batch_380', false);
        await close(narrow);
    },

    // A loss that is lost, at once or later, is said in words, and what is finite is drawn.
    async batch_lost() {
        run([3, 4], 'scan', made('good'), made('bad'), made('lost'), made('empty'), '--report', page('batch_lost'), '--format', 'csv');
        for (const [width, theme] of [[1400, 'light'], [1400, 'dark'], [380, 'light']]) {
            const name = `batch_lost_${theme}_${width}`;
            const tab = await open('batch_lost', { width, theme });
            await checkWidth(tab, name);
            const cell = (run) => tab.locator('.batch tbody tr').filter({ has: tab.locator(`th [title$="/${run}"]`) }).locator('td').nth(1);
            check((await cell('bad').textContent()) === 'NaN or infinite from step 181', `${name}: bad: the cell says ${await cell('bad').textContent()}`);
            check((await cell('bad').getAttribute('title')) === 'NaN or infinite from step 181', `${name}: bad: so does its title`);
            check((await cell('lost').textContent()) === 'NaN or infinite from step 0', `${name}: lost: the cell says ${await cell('lost').textContent()}`);
            check((await cell('lost').locator('canvas').count()) === 0, `${name}: lost: no empty picture`);
            check((await cell('good').textContent()) === '' && (await cell('good').locator('canvas').count()) === 1, `${name}: good: a picture alone`);
            check((await cell('empty').textContent()) === '\u2013', `${name}: empty: no loss`);
            const labels = (await colours(tab)).filter((each) => /loss/.test(each.label));
            check(labels.length === 2 && labels.every((each) => each.colours > 1), `${name}: ${labels.length} lines of losses are drawn`);
            check(labels.every((each) => !/nan|inf,|inf$/i.test(each.label.replace('NaN or infinite from step 181', ''))), `${name}: they are named: ${labels.map((each) => each.label)}`);
            await tab.click('.batch thead button:has-text("Loss")');
            const order = await tab.locator('.batch tbody th [title]').evaluateAll((all) => all.map((each) => each.title.split('/').pop()));
            check(order.slice(2).join() === 'good,empty' && order.slice(0, 2).sort().join() === 'bad,lost', `${name}: by loss, lost ones come first: ${order}`);
            await shoot(tab, name, false);
            await close(tab);
        }
    },

    async compared() {
        run([3], 'report', made('good'), made('bad'), '-o', page('compared'));
        // The run with most findings is the one that is looked at first, and the page says so; the address is stronger.
        const first = await open('compared');
        const picked = () => first.locator('.tab').evaluateAll((all) => all.map((each) => `${each.textContent} ${each.getAttribute('aria-pressed')}`).join());
        check(/^good.* false,bad.* true$/.test(await picked()), `compared: opens on the one with most findings: ${await picked()}`);
        check(/^2 runs; shown: bad, which has most findings/.test(await first.textContent('#subtitle')), `compared: and says so: ${await first.textContent('#subtitle')}`);
        check(/found something in bad$/.test(await first.textContent('#findings-title')), `compared: whose findings: ${await first.textContent('#findings-title')}`);
        check(/findings of bad/.test(await first.textContent('#scalars-part .controls')), 'compared: whose findings are marked');
        await first.locator('.tab').nth(0).click();
        await first.waitForTimeout(250);
        check(/shown: good;/.test(await first.textContent('#subtitle')), `compared: which is shown then: ${await first.textContent('#subtitle')}`);
        check(new URL(first.url()).hash.includes('run=0'), 'compared: the first run, too, is kept in the address');
        // Of which run a chart says that something is lost, whichever is looked at.
        const notes = await first.locator('#scalars-part .chart-note').allTextContents();
        check(notes.some((each) => /^NaN or infinite in bad, at \d+ steps$/.test(each)), `compared: whose values are lost: ${notes}`);
        check((await first.textContent('#tensor-title')) === 'One tensor of good', `compared: whose tensor: ${await first.textContent('#tensor-title')}`);
        // What stands below a table does not touch it.
        const room = await first.evaluate(() => {
            const box = document.querySelector('#comparison-part .table-box');
            return box.nextElementSibling.getBoundingClientRect().top - box.querySelector('tbody tr:last-child').getBoundingClientRect().bottom;
        });
        check(room >= 6, `compared: ${room} pixels below the last row`);
        await close(first);
        run([1, 4], 'report', join(folder, 'no_run'), made('good'), made('bad'), '-o', page('opens_on'));
        for (const [hash, wanted] of [['#step=3', 'bad'], ['#run=1', 'good'], ['#run=-1', 'bad'], ['#run=7', 'bad'], ['#run=0', 'no_run']]) {
            const other = await open('opens_on', { hash });
            check((await other.textContent('.tab[aria-pressed=true]')).startsWith(wanted), `opens_on: ${hash} shows ${await other.textContent('.tab[aria-pressed=true]')}`);
            await close(other);
        }

        const tab = await open('compared', { hash: '#run=0' });
        check(/something|nothing/i.test(await tab.textContent('#findings-title')) && /in good$/.test(await tab.textContent('#findings-title')), 'compared: the run of the address');
        check(/The runs part at step \d+/.test(await tab.textContent('#comparison-part')), 'compared: where they part');
        await checkDrawn(tab, 'compared', 7);
        check((await tab.locator('#scalars-part .key').filter({ hasText: 'good' }).count()) > 0, 'compared: both runs are in the legend');
        check((await tab.locator('#maps-part .heat').count()) === 2, 'compared: a heat map each');
        const groups = await tab.locator('#maps-part figcaption .muted').allTextContents();
        check(groups.length === 2 && groups[0] === groups[1] && groups[0] === 'gradients', `compared: both maps show the same collection: ${groups}`);
        await tab.locator('.tab').nth(1).click();
        await tab.waitForTimeout(100);
        check(/found something in bad/.test(await tab.textContent('#findings-title')), 'compared: the other run has findings');
        await shoot(tab, 'compared');
        await close(tab);
        const narrow = await open('compared', { width: 380 });
        await checkWidth(narrow, 'compared, narrow');
        await close(narrow);
    },
};

const began = Date.now();
try {
    for (const [name, body] of Object.entries(cases)) {
        if (only && only !== name) continue;
        const start = Date.now();
        try {
            await body();
        } catch (error) {
            check(false, `${name}: ${error.stack}`);
        }
        console.log(`${name}: ${Date.now() - start} ms`);
    }
} finally {
    await browser.close();
}
console.log(`${checks - failures.length} passed, ${failures.length} failed, in ${Math.round((Date.now() - began) / 1000)} s; screenshots are in ${shots}`);
process.exitCode = failures.length ? 1 : 0;
