/*
 * response_list.h
 *		The responses of APIs of AWS, as the models of its SDKs define them.
 *
 * response_shapes.c explains how a shape is written.  A member that is deep in
 * others stands as "o" or "*": it may be anything of that kind.
 */
#ifndef SF_AWS_RESPONSE_LIST_H
#define SF_AWS_RESPONSE_LIST_H

/* Parts that several shapes share */
#define SHAPE_KEY_ALGORITHM "s(SYMMETRIC_DEFAULT|RSAES_OAEP_SHA_1|RSAES_OAEP_SHA_256|SM2PKE)"
#define SHAPE_SQL_FIELD \
	"{IsNull:b,BooleanValue:b,LongValue:n,DoubleValue:n," \
	"StringValue:s,BlobValue:s,ArrayValue:{BooleanValues:[b]," \
	"LongValues:[n],DoubleValues:[n],StringValues:[s],ArrayValues:[*]}}"
#define SHAPE_PARAMETER \
	"{Name:s1-2048,Type:s(String|StringList|SecureString)," \
	"Value:s,Version:n,Selector:s-128,SourceResult:s," \
	"LastModifiedDate:s,ARN:s,DataType:s-128}"
#define SHAPE_EXECUTION_STATUS "s(RUNNING|SUCCEEDED|FAILED|TIMED_OUT|ABORTED|PENDING_REDRIVE)"
#define SHAPE_STORAGE_CLASS \
	"s(STANDARD|REDUCED_REDUNDANCY|STANDARD_IA|ONEZONE_IA|" \
	"INTELLIGENT_TIERING|GLACIER|DEEP_ARCHIVE|OUTPOSTS|" \
	"GLACIER_IR|SNOW|EXPRESS_ONEZONE|FSX_OPENZFS|FSX_ONTAP)"
#define SHAPE_ENCRYPTION "ServerSideEncryption:s(AES256|aws:fsx|aws:kms|aws:kms:dsse)"
#define SHAPE_CHECKSUMS \
	"ChecksumCRC32:s,ChecksumCRC32C:s,ChecksumCRC64NVME:s," \
	"ChecksumSHA1:s,ChecksumSHA256:s,ChecksumSHA512:s," \
	"ChecksumMD5:s,ChecksumXXHASH64:s,ChecksumXXHASH3:s,ChecksumXXHASH128:s"
#define SHAPE_UNITS "{ReadCapacityUnits:n,WriteCapacityUnits:n,CapacityUnits:n}"
#define SHAPE_METRICS "{ItemCollectionKey:<v>,SizeEstimateRangeGB:[n]}"
#define SHAPE_CONSUMED \
	"{TableName:s1-1024,CapacityUnits:n,ReadCapacityUnits:n,WriteCapacityUnits:n,Table:" \
	SHAPE_UNITS ",LocalSecondaryIndexes:<" SHAPE_UNITS ">,GlobalSecondaryIndexes:<" SHAPE_UNITS ">}"
#define SHAPE_PAGE \
	"{Items:[<v>],Count:n,ScannedCount:n,LastEvaluatedKey:<v>,ConsumedCapacity:" SHAPE_CONSUMED \
	"}"
#define SHAPE_WRITTEN \
	"{Attributes:<v>,ConsumedCapacity:" SHAPE_CONSUMED ",ItemCollectionMetrics:" SHAPE_METRICS "}"

/* X(service, action, shape), in alphabetical order */
#define SF_RESPONSE_LIST(X) \
	X("athena", "getQueryExecution", \
	  "{QueryExecution:{QueryExecutionId:s1-128,Query:s1-,StatementType:s(DDL|DML|UTILITY)," \
	  "ManagedQueryResultsConfiguration:{Enabled!:b," \
	  "EncryptionConfiguration:{KmsKey!:s1-2048}},ResultConfiguration:{OutputLocation:s," \
	  "EncryptionConfiguration:{EncryptionOption!:s(SSE_S3|SSE_KMS|" \
	  "CSE_KMS),KmsKey:s},ExpectedBucketOwner:s12-12," \
	  "AclConfiguration:{S3AclOption!:s(BUCKET_OWNER_FULL_CONTROL)}}," \
	  "ResultReuseConfiguration:{ResultReuseByAgeConfiguration:{Enabled!:b," \
	  "MaxAgeInMinutes:n0-10080}},QueryExecutionContext:{Database:s1-255,Catalog:s1-256}," \
	  "Status:{State:s(QUEUED|RUNNING|SUCCEEDED|FAILED|CANCELLED)," \
	  "StateChangeReason:s,SubmissionDateTime:s," \
	  "CompletionDateTime:s,AthenaError:{ErrorCategory:n1-3," \
	  "ErrorType:n0-9999,Retryable:b,ErrorMessage:s}}," \
	  "Statistics:{EngineExecutionTimeInMillis:n," \
	  "DataScannedInBytes:n,DataManifestLocation:s," \
	  "TotalExecutionTimeInMillis:n,QueryQueueTimeInMillis:n," \
	  "ServicePreProcessingTimeInMillis:n," \
	  "QueryPlanningTimeInMillis:n,ServiceProcessingTimeInMillis:n," \
	  "ResultReuseInformation:{ReusedPreviousResult!:b},DpuCount:n},WorkGroup:s," \
	  "EngineVersion:{SelectedEngineVersion:s1-128,EffectiveEngineVersion:s1-128}," \
	  "ExecutionParameters:[s1-1024],SubstatementType:s," \
	  "QueryResultsS3AccessGrantsConfiguration:{EnableS3AccessGrants!:b," \
	  "CreateUserLevelPrefix:b,AuthenticationType!:s(DIRECTORY_IDENTITY)}}}") \
	X("athena", "getQueryResults", \
	  "{UpdateCount:n,ResultSet:{Rows:[{Data:[{VarCharValue:s}]}]," \
	  "ResultSetMetadata:{ColumnInfo:[{CatalogName:s,SchemaName:s," \
	  "TableName:s,Name!:s,Label:s,Type!:s,Precision:n,Scale:n," \
	  "Nullable:s(NOT_NULL|NULLABLE|UNKNOWN),CaseSensitive:b}]}},NextToken:s1-1024}") \
	X("athena", "startQueryExecution", "{QueryExecutionId:s1-128}") \
	X("aws-sdk:lambda", "invoke", \
	  "{StatusCode:n,FunctionError:s,LogResult:s,Payload:s," \
	  "ExecutedVersion:s1-1024,DurableExecutionArn:s1-1024}") \
	X("batch", "submitJob", "{JobArn:s,JobName!:s,JobId!:s}") \
	X("bedrockruntime", "invokeModel", \
	  "{Body!:s,ContentType!:s,PerformanceConfigLatency:s(standard|" \
	  "optimized),ServiceTier:s(priority|default|flex|reserved)}") \
	X("databrew", "startJobRun", "{RunId!:s1-255}") \
	X("dynamodb", "batchGetItem", \
	  "{Responses:<[<v>]>,UnprocessedKeys:<{Keys!:[<v>]," \
	  "AttributesToGet:[s-65535],ConsistentRead:b," \
	  "ProjectionExpression:s,ExpressionAttributeNames:<s-65535>}>,ConsumedCapacity:[" \
	  SHAPE_CONSUMED "]}") \
	X("dynamodb", "batchWriteItem", \
	  "{UnprocessedItems:<[{PutRequest:{Item!:<v>}," \
	  "DeleteRequest:{Key!:<v>}}]>,ItemCollectionMetrics:<[" SHAPE_METRICS "]>,ConsumedCapacity:[" \
	  SHAPE_CONSUMED "]}") \
	X("dynamodb", "deleteItem", SHAPE_WRITTEN) \
	X("dynamodb", "getItem", "{Item:<v>,ConsumedCapacity:" SHAPE_CONSUMED "}") \
	X("dynamodb", "putItem", SHAPE_WRITTEN) \
	X("dynamodb", "query", SHAPE_PAGE) \
	X("dynamodb", "scan", SHAPE_PAGE) \
	X("dynamodb", "transactGetItems", \
	  "{ConsumedCapacity:[" SHAPE_CONSUMED "],Responses:[{Item:<v>}]}") \
	X("dynamodb", "transactWriteItems", \
	  "{ConsumedCapacity:[" SHAPE_CONSUMED "],ItemCollectionMetrics:<[" SHAPE_METRICS "]>}") \
	X("dynamodb", "updateItem", SHAPE_WRITTEN) \
	X("ecs", "runTask", "{Tasks:[o],Failures:[{Arn:s,Reason:s,Detail:s}]}") \
	X("emrcontainers", "createVirtualCluster", "{Id:s1-64,Name:s1-64,Arn:s60-1024}") \
	X("emrcontainers", "startJobRun", \
	  "{Id:s1-64,Name:s1-64,Arn:s60-1024,VirtualClusterId:s1-64}") \
	X("emrserverless", "createApplication", "{ApplicationId!:s1-64,Name:s1-64,Arn!:s60-1024}") \
	X("emrserverless", "startJobRun", "{ApplicationId!:s1-64,JobRunId!:s1-64,Arn!:s60-1024}") \
	X("eventbridge", "putEvents", \
	  "{FailedEntryCount:n,Entries:[{EventId:s-64,ErrorCode:s,ErrorMessage:s}]}") \
	X("events", "putEvents", \
	  "{FailedEntryCount:n,Entries:[{EventId:s-64,ErrorCode:s,ErrorMessage:s}]}") \
	X("firehose", "putRecord", "{RecordId!:s1-,Encrypted:b}") \
	X("firehose", "putRecordBatch", \
	  "{FailedPutCount!:n0-,Encrypted:b,RequestResponses!:[{RecordId:s1-,ErrorCode:s," \
	  "ErrorMessage:s}]}") \
	X("glue", "startJobRun", "{JobRunId:s1-255}") \
	X("kinesis", "putRecord", \
	  "{ShardId!:s1-128,SequenceNumber!:s,EncryptionType:s(NONE|KMS)}") \
	X("kinesis", "putRecords", \
	  "{FailedRecordCount:n1-,Records!:[{SequenceNumber:s," \
	  "ShardId:s1-128,ErrorCode:s,ErrorMessage:s}],EncryptionType:s(NONE|KMS)}") \
	X("kms", "decrypt", \
	  "{KeyId:s1-2048,Plaintext:s,EncryptionAlgorithm:" SHAPE_KEY_ALGORITHM \
	  ",CiphertextForRecipient:s,KeyMaterialId:s64-64}") \
	X("kms", "encrypt", \
	  "{CiphertextBlob:s,KeyId:s1-2048,EncryptionAlgorithm:" SHAPE_KEY_ALGORITHM "}") \
	X("kms", "generateDataKey", \
	  "{CiphertextBlob:s,Plaintext:s,KeyId:s1-2048," \
	  "CiphertextForRecipient:s,KeyMaterialId:s64-64}") \
	X("lambda", "invoke", \
	  "{StatusCode:n,FunctionError:s,LogResult:s,Payload:*," \
	  "ExecutedVersion:s1-1024,DurableExecutionArn:s1-1024}") \
	X("rdsdata", "batchExecuteStatement", "{UpdateResults:[{GeneratedFields:[" SHAPE_SQL_FIELD "]}]}") \
	X("rdsdata", "executeStatement", \
	  "{Records:[[" SHAPE_SQL_FIELD "]],ColumnMetadata:[{Name:s,Type:n,TypeName:s,Label:s," \
	  "SchemaName:s,TableName:s,IsAutoIncrement:b,IsSigned:b," \
	  "IsCurrency:b,IsCaseSensitive:b,Nullable:n,Precision:n," \
	  "Scale:n,ArrayBaseColumnType:n}],NumberOfRecordsUpdated:n,GeneratedFields:[" SHAPE_SQL_FIELD \
	  "],FormattedRecords:s}") \
	X("redshiftdata", "describeStatement", \
	  "{Id!:s,SecretArn:s,DbUser:s,Database:s,ClusterIdentifier:s," \
	  "Duration:n,Error:s,Status:s(SUBMITTED|PICKED|STARTED|" \
	  "FINISHED|ABORTED|FAILED|ALL),CreatedAt:s,UpdatedAt:s," \
	  "RedshiftPid:n,HasResultSet:b,QueryString:s,ResultRows:n," \
	  "ResultSize:n,RedshiftQueryId:n,QueryParameters:[{Name!:s," \
	  "Value!:s1-}],SubStatements:[{Id!:s,Duration:n,Error:s," \
	  "Status:s(SUBMITTED|PICKED|STARTED|FINISHED|ABORTED|FAILED)," \
	  "CreatedAt:s,UpdatedAt:s,QueryString:s,ResultRows:n," \
	  "ResultSize:n,RedshiftQueryId:n,HasResultSet:b}]," \
	  "WorkgroupName:s3-128,ResultFormat:s(JSON|CSV),SessionId:s}") \
	X("redshiftdata", "executeStatement", \
	  "{Id:s,CreatedAt:s,ClusterIdentifier:s1-63,DbUser:s," \
	  "DbGroups:[s],Database:s,SecretArn:s,WorkgroupName:s3-128,SessionId:s}") \
	X("redshiftdata", "getStatementResult", \
	  "{Records!:[[{IsNull:b,BooleanValue:b,LongValue:n," \
	  "DoubleValue:n,StringValue:s,BlobValue:s}]]," \
	  "ColumnMetadata:[{IsCaseSensitive:b,IsCurrency:b,IsSigned:b," \
	  "Label:s,Name:s,Nullable:n,Precision:n,Scale:n,SchemaName:s," \
	  "TableName:s,TypeName:s,Length:n,ColumnDefault:s}],TotalNumRows:n,NextToken:s}") \
	X("s3", "copyObject", \
	  "{CopyObjectResult:{ETag:s,LastModified:s,ChecksumType:s(COMPOSITE|FULL_OBJECT)," \
	  SHAPE_CHECKSUMS "},Expiration:s,CopySourceVersionId:s,VersionId:s," SHAPE_ENCRYPTION \
	  ",SSECustomerAlgorithm:s,SSECustomerKeyMD5:s,SSEKMSKeyId:s," \
	  "SSEKMSEncryptionContext:s,BucketKeyEnabled:b,RequestCharged:s(requester)}") \
	X("s3", "deleteObject", "{DeleteMarker:b,VersionId:s,RequestCharged:s(requester)}") \
	X("s3", "getObject", \
	  "{Body:s,DeleteMarker:b,AcceptRanges:s,Expiration:s," \
	  "Restore:s,LastModified:s,ContentLength:n,ETag:s," SHAPE_CHECKSUMS \
	  ",ChecksumType:s(COMPOSITE|FULL_OBJECT),MissingMeta:n," \
	  "VersionId:s,CacheControl:s,ContentDisposition:s," \
	  "ContentEncoding:s,ContentLanguage:s,ContentRange:s," \
	  "ContentType:s,Expires:s,WebsiteRedirectLocation:s," SHAPE_ENCRYPTION \
	  ",Metadata:<s>,SSECustomerAlgorithm:s,SSECustomerKeyMD5:s," \
	  "SSEKMSKeyId:s,BucketKeyEnabled:b,StorageClass:" SHAPE_STORAGE_CLASS \
	  ",RequestCharged:s(requester),ReplicationStatus:s(COMPLETE|" \
	  "PENDING|FAILED|REPLICA|COMPLETED),PartsCount:n,TagCount:n," \
	  "ObjectLockMode:s(GOVERNANCE|COMPLIANCE)," \
	  "ObjectLockRetainUntilDate:s,ObjectLockLegalHoldStatus:s(ON|OFF)}") \
	X("s3", "headObject", \
	  "{DeleteMarker:b,AcceptRanges:s,Expiration:s,Restore:s," \
	  "ArchiveStatus:s(ARCHIVE_ACCESS|DEEP_ARCHIVE_ACCESS),LastModified:s,ContentLength:n," \
	  SHAPE_CHECKSUMS ",ChecksumType:s(COMPOSITE|FULL_OBJECT),ETag:s,MissingMeta:n," \
	  "VersionId:s,CacheControl:s,ContentDisposition:s," \
	  "ContentEncoding:s,ContentLanguage:s,ContentType:s," \
	  "ContentRange:s,Expires:s,WebsiteRedirectLocation:s," SHAPE_ENCRYPTION \
	  ",Metadata:<s>,SSECustomerAlgorithm:s,SSECustomerKeyMD5:s," \
	  "SSEKMSKeyId:s,BucketKeyEnabled:b,StorageClass:" SHAPE_STORAGE_CLASS \
	  ",RequestCharged:s(requester),ReplicationStatus:s(COMPLETE|" \
	  "PENDING|FAILED|REPLICA|COMPLETED),PartsCount:n,TagCount:n," \
	  "ObjectLockMode:s(GOVERNANCE|COMPLIANCE)," \
	  "ObjectLockRetainUntilDate:s,ObjectLockLegalHoldStatus:s(ON|OFF)}") \
	X("s3", "listObjectsV2", \
	  "{IsTruncated:b,Contents:[{Key:s1-,LastModified:s,ETag:s," \
	  "ChecksumAlgorithm:[s(CRC32|CRC32C|SHA1|SHA256|CRC64NVME|" \
	  "SHA512|MD5|XXHASH64|XXHASH3|XXHASH128)],ChecksumType:s(COMPOSITE|FULL_OBJECT),Size:n," \
	  "StorageClass:s(STANDARD|REDUCED_REDUNDANCY|GLACIER|" \
	  "STANDARD_IA|ONEZONE_IA|INTELLIGENT_TIERING|DEEP_ARCHIVE|" \
	  "OUTPOSTS|GLACIER_IR|SNOW|EXPRESS_ONEZONE|FSX_OPENZFS|" \
	  "FSX_ONTAP),Owner:{DisplayName:s,ID:s}," \
	  "RestoreStatus:{IsRestoreInProgress:b,RestoreExpiryDate:s}}]," \
	  "Name:s,Prefix:s,Delimiter:s,MaxKeys:n," \
	  "CommonPrefixes:[{Prefix:s}],EncodingType:s(url),KeyCount:n," \
	  "ContinuationToken:s,NextContinuationToken:s,StartAfter:s,RequestCharged:s(requester)}") \
	X("s3", "putObject", \
	  "{Expiration:s,ETag:s," SHAPE_CHECKSUMS ",ChecksumType:s(COMPOSITE|FULL_OBJECT)," SHAPE_ENCRYPTION \
	  ",VersionId:s,SSECustomerAlgorithm:s,SSECustomerKeyMD5:s," \
	  "SSEKMSKeyId:s,SSEKMSEncryptionContext:s,BucketKeyEnabled:b," \
	  "Size:n,RequestCharged:s(requester)}") \
	X("sagemaker", "createEndpoint", "{EndpointArn!:s20-2048}") \
	X("sagemaker", "createEndpointConfig", "{EndpointConfigArn!:s20-2048}") \
	X("sagemaker", "createHyperParameterTuningJob", "{HyperParameterTuningJobArn!:s-256}") \
	X("sagemaker", "createLabelingJob", "{LabelingJobArn!:s-2048}") \
	X("sagemaker", "createModel", "{ModelArn!:s20-2048}") \
	X("sagemaker", "createProcessingJob", "{ProcessingJobArn!:s-256}") \
	X("sagemaker", "createTrainingJob", "{TrainingJobArn!:s-256}") \
	X("sagemaker", "createTransformJob", "{TransformJobArn!:s-256}") \
	X("sagemaker", "updateEndpoint", "{EndpointArn!:s20-2048}") \
	X("scheduler", "createSchedule", "{ScheduleArn!:s1-1224}") \
	X("secretsmanager", "createSecret", \
	  "{ARN:s20-2048,Name:s1-256,VersionId:s32-64," \
	  "ReplicationStatus:[{Region:s1-128,KmsKeyId:s-2048," \
	  "Status:s(InSync|Failed|InProgress),StatusMessage:s1-4096,LastAccessedDate:s}]}") \
	X("secretsmanager", "getSecretValue", \
	  "{ARN:s20-2048,Name:s1-256,VersionId:s32-64,SecretBinary:s," \
	  "SecretString:s1-65536,VersionStages:[s1-256],CreatedDate:s}") \
	X("secretsmanager", "putSecretValue", \
	  "{ARN:s20-2048,Name:s1-256,VersionId:s32-64,VersionStages:[s1-256]}") \
	X("sfn", "describeExecution", \
	  "{ExecutionArn!:s1-256,StateMachineArn!:s1-256,Name:s1-80,Status!:" SHAPE_EXECUTION_STATUS \
	  ",StartDate!:s,StopDate:s,Input:s,InputDetails:{Included:b}," \
	  "Output:s,OutputDetails:{Included:b},TraceHeader:s-256," \
	  "MapRunArn:s1-2000,Error:s-256,Cause:s-32768," \
	  "StateMachineVersionArn:s1-256,StateMachineAliasArn:s1-256," \
	  "RedriveCount:n,RedriveDate:s,RedriveStatus:s(REDRIVABLE|" \
	  "NOT_REDRIVABLE|REDRIVABLE_BY_MAP_RUN),RedriveStatusReason:s}") \
	X("sfn", "listExecutions", \
	  "{Executions!:[{ExecutionArn!:s1-256,StateMachineArn!:s1-256,Name!:s1-80,Status!:" \
	  SHAPE_EXECUTION_STATUS ",StartDate!:s,StopDate:s,MapRunArn:s1-2000,ItemCount:n0-," \
	  "StateMachineVersionArn:s1-256,StateMachineAliasArn:s1-256," \
	  "RedriveCount:n,RedriveDate:s}],NextToken:s1-3096}") \
	X("sfn", "startExecution", "{ExecutionArn!:s1-256,StartDate!:s}") \
	X("sfn", "startSyncExecution", \
	  "{ExecutionArn!:s1-256,StateMachineArn:s1-256,Name:s1-80," \
	  "StartDate!:s,StopDate!:s,Status!:s(SUCCEEDED|FAILED|" \
	  "TIMED_OUT),Error:s-256,Cause:s-32768,Input:s,InputDetails:{Included:b},Output:s," \
	  "OutputDetails:{Included:b},TraceHeader:s-256," \
	  "BillingDetails:{BilledMemoryUsedInMB:n0-,BilledDurationInMilliseconds:n0-}}") \
	X("sfn", "stopExecution", "{StopDate!:s}") \
	X("sns", "publish", "{MessageId:s,SequenceNumber:s}") \
	X("sns", "publishBatch", \
	  "{Successful:[{Id:s,MessageId:s,SequenceNumber:s}]," \
	  "Failed:[{Id!:s,Code!:s,Message:s,SenderFault!:b}]}") \
	X("sqs", "getQueueAttributes", "{Attributes:<s>}") \
	X("sqs", "getQueueUrl", "{QueueUrl:s}") \
	X("sqs", "receiveMessage", \
	  "{Messages:[{MessageId:s,ReceiptHandle:s,MD5OfBody:s,Body:s," \
	  "Attributes:<s>,MD5OfMessageAttributes:s," \
	  "MessageAttributes:<{StringValue:s,BinaryValue:s," \
	  "StringListValues:[s],BinaryListValues:[s],DataType!:s}>}]}") \
	X("sqs", "sendMessage", \
	  "{MD5OfMessageBody:s,MD5OfMessageAttributes:s," \
	  "MD5OfMessageSystemAttributes:s,MessageId:s,SequenceNumber:s}") \
	X("sqs", "sendMessageBatch", \
	  "{Successful!:[{Id!:s,MessageId!:s,MD5OfMessageBody!:s," \
	  "MD5OfMessageAttributes:s,MD5OfMessageSystemAttributes:s," \
	  "SequenceNumber:s}],Failed!:[{Id!:s,SenderFault!:b,Code!:s,Message:s}]}") \
	X("ssm", "getCommandInvocation", \
	  "{CommandId:s36-36,InstanceId:s,Comment:s-100,DocumentName:s," \
	  "DocumentVersion:s,PluginName:s4-,ResponseCode:n," \
	  "ExecutionStartDateTime:s,ExecutionElapsedTime:s," \
	  "ExecutionEndDateTime:s,Status:s(Pending|InProgress|Delayed|" \
	  "Success|Cancelled|TimedOut|Failed|Cancelling)," \
	  "StatusDetails:s-100,StandardOutputContent:s-24000," \
	  "StandardOutputUrl:s,StandardErrorContent:s-8000,StandardErrorUrl:s," \
	  "CloudWatchOutputConfig:{CloudWatchLogGroupName:s1-512,CloudWatchOutputEnabled:b}}") \
	X("ssm", "getParameter", "{Parameter:" SHAPE_PARAMETER "}") \
	X("ssm", "getParameters", "{Parameters:[" SHAPE_PARAMETER "],InvalidParameters:[s1-2048]}") \
	X("ssm", "getParametersByPath", "{Parameters:[" SHAPE_PARAMETER "],NextToken:s}") \
	X("ssm", "putParameter", "{Version:n,Tier:s(Standard|Advanced|Intelligent-Tiering)}") \
	X("ssm", "sendCommand", \
	  "{Command:{CommandId:s36-36,DocumentName:s,DocumentVersion:s," \
	  "Comment:s-100,ExpiresAfter:s,Parameters:<[s]>," \
	  "InstanceIds:[s],Targets:[{Key:s1-163,Values:[s]}]," \
	  "RequestedDateTime:s,Status:s(Pending|InProgress|Success|" \
	  "Cancelled|Failed|TimedOut|Cancelling),StatusDetails:s-100," \
	  "OutputS3Region:s3-20,OutputS3BucketName:s3-63," \
	  "OutputS3KeyPrefix:s-500,MaxConcurrency:s1-7,MaxErrors:s1-7," \
	  "TargetCount:n,CompletedCount:n,ErrorCount:n,DeliveryTimedOutCount:n,ServiceRole:s," \
	  "NotificationConfig:{NotificationArn:s," \
	  "NotificationEvents:[s(All|InProgress|Success|TimedOut|" \
	  "Cancelled|Failed)],NotificationType:s(Command|Invocation)}," \
	  "CloudWatchOutputConfig:{CloudWatchLogGroupName:s1-512," \
	  "CloudWatchOutputEnabled:b},TimeoutSeconds:n30-2592000," \
	  "AlarmConfiguration:{IgnorePollAlarmFailure:b," \
	  "Alarms!:[{Name!:s1-255}]},TriggeredAlarms:[{Name!:s1-255,State!:s(UNKNOWN|ALARM)}]}}") \
	X("states", "startExecution", "{ExecutionArn!:s1-256,StartDate!:s}") \
	X("sts", "assumeRole", \
	  "{Credentials:{AccessKeyId!:s16-128,SecretAccessKey!:s,SessionToken!:s,Expiration!:s}," \
	  "AssumedRoleUser:{AssumedRoleId!:s2-193,Arn!:s20-2048}," \
	  "PackedPolicySize:n0-,SourceIdentity:s2-64}") \
	X("sts", "getCallerIdentity", "{UserId:s,Account:s,Arn:s20-2048}") \
	X("textract", "startDocumentAnalysis", "{JobId:s1-64}") \
	X("textract", "startDocumentTextDetection", "{JobId:s1-64}") \
	X("translate", "translateText", \
	  "{TranslatedText!:s-20000,SourceLanguageCode!:s2-5," \
	  "TargetLanguageCode!:s2-5,AppliedTerminologies:[{Name:s1-256," \
	  "Terms:[{SourceText:s-10000,TargetText:s-10000}]}]," \
	  "AppliedSettings:{Formality:s(FORMAL|INFORMAL),Profanity:s(MASK),Brevity:s(ON)}}")

#endif							/* SF_AWS_RESPONSE_LIST_H */
