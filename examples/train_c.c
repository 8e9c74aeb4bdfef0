/* A training in C99: a logistic regression that saves its weights, gradients and loss, and asks the built-in rules about
   the run when it is done.
     train_c FOLDER [LEARNING_RATE]      exit status 0: nothing found, 3: found something, 1: an error */
#include <smdebug/smdebug.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { samples = 256, features = 8, epochs = 200 };

/* Prints the words of a call that failed; returns whether it did. */
static int failed(const void* handle, smd_status status) {
    if (status != SMD_OK) {
        fprintf(stderr, "train_c: %s (%s)\n", smd_message(handle), smd_status_name(status));
    }
    return status != SMD_OK;
}

static void make_data(double x[samples][features], double y[samples]) {
    for (int i = 0; i < samples; ++i) {
        double sum = 0;
        for (int k = 0; k < features; ++k) {
            x[i][k] = sin(1.7 * i + 2.3 * i * k + k);
            sum += x[i][k] * (k % 2 == 0 ? 1.0 : -0.5);
        }
        y[i] = sum > 0 ? 1.0 : 0.0;
    }
}

/* One step of gradient descent; returns the loss before it. */
static double train(double x[samples][features], const double y[samples], double rate, float weight[features],
                    float gradient[features]) {
    double sums[features] = {0}, loss = 0;
    for (int i = 0; i < samples; ++i) {
        double z = 0;
        for (int k = 0; k < features; ++k) {
            z += x[i][k] * (double)weight[k];
        }
        loss += (z > 0 ? z : 0) - y[i] * z + log(1 + exp(-fabs(z)));
        for (int k = 0; k < features; ++k) {
            sums[k] += (1 / (1 + exp(-z)) - y[i]) * x[i][k];
        }
    }
    for (int k = 0; k < features; ++k) {
        gradient[k] = (float)(sums[k] / samples);
        weight[k] -= (float)rate * gradient[k];
    }
    return loss / samples;
}

static int save_training(smd_hook* hook, double rate) {
    static double x[samples][features], y[samples];
    float weight[features] = {0.1F, 0.1F, -0.1F, 0.1F, -0.1F, 0.1F, 0.1F, -0.1F}, gradient[features];
    const int64_t shape[1] = {features};
    make_data(x, y);
    for (int epoch = 0; epoch < epochs; ++epoch) {
        const double loss = train(x, y, rate, weight, gradient);
        if (failed(hook, smd_hook_save(hook, "logit.weight", SMD_FLOAT32, 1, shape, NULL, weight, NULL)) ||
            failed(hook, smd_hook_save(hook, "gradient/logit.weight", SMD_FLOAT32, 1, shape, NULL, gradient, NULL)) ||
            failed(hook, smd_hook_save(hook, "Loss_output_0", SMD_FLOAT64, 0, NULL, NULL, &loss, NULL)) ||
            failed(hook, smd_hook_end_step(hook))) {
            return 1;
        }
    }
    return failed(hook, smd_hook_close(hook));
}

/* Prints what the rules found; returns the exit status. */
static int check(smd_run* run) {
    size_t rules = 0, found = 0;
    if (failed(run, smd_run_check(run, NULL, &rules))) {
        return 1;
    }
    for (size_t i = 0; i < rules; ++i) {
        smd_result result;
        if (failed(run, smd_run_result(run, i, &result)) || result.unread != 0) {
            return 1;
        }
        printf("%-24s %zu steps, %zu findings\n", result.rule, result.steps, result.findings);
        for (size_t j = 0; j < result.findings && j < 3; ++j) {
            smd_finding finding;
            if (failed(run, smd_run_finding(run, i, j, &finding))) {
                return 1;
            }
            printf("    step %lld, %s: %s\n", (long long)finding.step, finding.tensor, finding.message);
        }
        found += result.findings;
    }
    return found != 0 ? 3 : 0;
}

int main(int count, char** arguments) {
    static const char options[] =
        "{\"HookParameters\": {\"save_interval\": 2},"
        " \"CollectionConfigurations\": [{\"CollectionName\": \"weights\"}, {\"CollectionName\": \"gradients\"}]}";
    if (count < 2 || smd_abi_version() != SMDEBUG_C_ABI) {
        fprintf(stderr, "usage: train_c FOLDER [LEARNING_RATE]\n");
        return 2;
    }
    smd_hook* hook;
    smd_status opened = smd_hook_open_worker(options, arguments[1], NULL, 1, 0, -1, &hook);
    int status = failed(hook, opened) || save_training(hook, count > 2 ? atof(arguments[2]) : 2.0);
    smd_free(hook);
    if (status == 0) {
        smd_run* run;
        opened = smd_run_open(arguments[1], &run);
        status = failed(run, opened) ? 1 : check(run);
        smd_free(run);
    }
    return status;
}
